// SPDX-License-Identifier: MIT
//
// The cost of an event through the kernel's user_events, compared with the least possible: the same
// bytes, written by hand. Runs as root where there are user_events and a tracefs, usually in a
// guest of bench/user_events.py, which compares the times. Prints a line for each batch: its name
// and the nanoseconds of one event.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include <eventlog/eventlog.hpp>

namespace {

struct retransmission {
    std::uint64_t sequence;
    std::uint32_t bytes;
    std::uint32_t window;
    std::string_view reason;
};
using recorded = eventlog::provider<"bench", retransmission>;

constexpr const char* event_by_hand =
    "bench_by_hand u64 sequence; u32 bytes; u32 window; __rel_loc char[] reason";

[[noreturn]] void fail(const char* what) {
    std::fprintf(stderr, "user_events_bench: %s (%s)\n", what, std::strerror(errno));
    std::exit(1);
}

/// A text that is unknown at compile time.
std::string_view opaque_reason() {
    std::string_view reason = "retransmit 1";
    asm volatile("" : "+m"(reason));
    return reason;
}

/// Uses user_events directly, for one event, as fast as possible.
class writer_by_hand {
  public:
    writer_by_hand() : file_(::open("/sys/kernel/tracing/user_events_data", O_RDWR | O_CLOEXEC)) {
        struct [[gnu::packed]] {
            std::uint32_t size = 28;
            std::uint8_t bit = 31;
            std::uint8_t word_size = 4;
            std::uint16_t flags = 0;
            std::uint64_t word_address = 0;
            std::uint64_t description = 0;
            std::uint32_t write_index = 0;
        } wanted;
        wanted.word_address = reinterpret_cast<std::uintptr_t>(&word);
        wanted.description = reinterpret_cast<std::uintptr_t>(event_by_hand);
        if (file_ < 0 || ::ioctl(file_, 0xc0082a00UL, &wanted) != 0) {
            fail("an event cannot be registered; it takes root and Linux 6.4 with user_events");
        }
        index_ = wanted.write_index;
    }
    ~writer_by_hand() { ::close(file_); }
    writer_by_hand(const writer_by_hand&) = delete;
    writer_by_hand& operator=(const writer_by_hand&) = delete;

    [[nodiscard, gnu::always_inline]] inline bool emit(const retransmission& event) const noexcept {
        if ((word.load(std::memory_order_relaxed) >> 31U) == 0) {
            return false;
        }
        // The number, then the payload. It is not cleared first, as code written by hand would not.
        constexpr std::size_t fixed_size = 20;
        char record[sizeof index_ + fixed_size + 64];
        char* const payload = record + sizeof index_;
        std::memcpy(record, &index_, sizeof index_);
        const auto reason = static_cast<std::uint32_t>((event.reason.size() + 1) << 16U);
        std::memcpy(payload, &event.sequence, sizeof event.sequence);
        std::memcpy(payload + 8, &event.bytes, sizeof event.bytes);
        std::memcpy(payload + 12, &event.window, sizeof event.window);
        std::memcpy(payload + 16, &reason, sizeof reason);
        std::memcpy(payload + fixed_size, event.reason.data(), event.reason.size());
        payload[fixed_size + event.reason.size()] = '\0';
        return ::write(file_, record, sizeof index_ + fixed_size + event.reason.size() + 1) > 0;
    }

    static bool enabled() { return (word.load(std::memory_order_relaxed) >> 31U) != 0; }

  private:
    static inline std::atomic<std::uint32_t> word{0};
    int file_;
    std::uint32_t index_ = 0;
};

constexpr std::uint64_t batch = 256;

retransmission event_of(std::uint64_t i, std::string_view reason) {
    return {i, static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i >> 32U), reason};
}

/// Returns the nanoseconds of one event.
template <class Emit>
[[gnu::noinline]] double measure(const Emit& emit) {
    const auto begin = std::chrono::steady_clock::now();
    for (std::uint64_t i = 0; i < batch; ++i) {
        emit(i);
    }
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    return took.count() / batch;
}

void set_file(const char* path, std::string_view text) {
    const int file = ::open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (file < 0 || ::write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
        fail(path);
    }
    ::close(file);
}

void listen() {
    set_file("/sys/kernel/tracing/buffer_size_kb", "1024");
    set_file("/sys/kernel/tracing/events/user_events/enable", "1");
    for (int i = 0; i < 600 && !(recorded::enabled<retransmission>() && writer_by_hand::enabled());
         ++i) {
        ::usleep(50'000);
    }
    if (!recorded::enabled<retransmission>() || !writer_by_hand::enabled()) {
        fail("the kernel does not open the gates");
    }
}

}  // namespace

int main(int argc, char** argv) {
    const std::size_t repetitions = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 601;
    const writer_by_hand by_hand;
    listen();
    const std::string_view reason = opaque_reason();
    std::uint64_t refused = 0;
    const auto emit = [&](std::uint64_t i) { recorded::emit(event_of(i, reason)); };
    const auto write = [&](std::uint64_t i) {
        refused += by_hand.emit(event_of(i, reason)) ? 0 : 1;
    };
    static_cast<void>(measure(emit));  // the first events prepare the path
    static_cast<void>(measure(write));
    // A round is a batch of each in direct succession, so that disturbances affect both.
    std::mt19937_64 random{std::random_device{}()};
    std::vector<std::pair<double, double>> rounds(repetitions);
    for (auto& [emitted, written] : rounds) {
        if (random() % 2 == 0) {
            emitted = measure(emit);
            written = measure(write);
        } else {
            written = measure(write);
            emitted = measure(emit);
        }
    }
    const auto counted = recorded::status().routes[EVENTLOG_ROUTE_USER_EVENTS].counters;
    if (refused != 0 || counted.written != (repetitions + 1) * batch) {
        fail("not every event has been written");
    }
    for (const auto& [emitted, written] : rounds) {
        std::printf("%.1f %.1f\n", emitted, written);
    }
    set_file("/sys/kernel/tracing/events/user_events/enable", "0");
    return 0;
}
