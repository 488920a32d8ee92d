// SPDX-License-Identifier: MIT
//
// Measures the largest payload that ftrace, perf and libeventlog accept, on one processor, and
// prints each. It writes events of increasing size without the library, because a write that is too
// large for ftrace and perf also succeeds, and then emits events of increasing size through
// libeventlog.
//
// With perf, the kernel reports the first too large event as a fault.
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>

#include <eventlog/eventlog.hpp>

#include "steps.hpp"
#include "user_events_abi.h"

namespace {

struct word {
    std::string_view text;
};
using limits = eventlog::provider<"limits", word>;

constexpr const char* by_hand = EVENTS "limits_by_hand/";

/// A text is preceded by the word with its location, and followed by a NUL.
constexpr std::size_t text_head = 4;

/// An event whose only field is a text, written without the library.
class event_by_hand {
  public:
    event_by_hand() : data_(::open(TRACING "user_events_data", O_RDWR)) {
        step("an event is registered by hand",
             data_ >= 0 &&
                 register_directly(data_, "limits_by_hand __rel_loc char[] text", &word_, &index_));
    }
    ~event_by_hand() { static_cast<void>(::close(data_)); }
    event_by_hand(const event_by_hand&) = delete;
    event_by_hand& operator=(const event_by_hand&) = delete;

    void write(std::size_t size) {
        const std::string text(size - text_head - 1, 'x');
        auto loc = static_cast<std::uint32_t>((text.size() + 1) << 16U);
        const iovec parts[] = {{&index_, sizeof index_},
                               {&loc, sizeof loc},
                               {const_cast<char*>(text.c_str()), text.size() + 1}};
        if (::writev(data_, parts, 3) != static_cast<ssize_t>(sizeof index_ + size)) {
            step("every write succeeds", false);
        }
    }

  private:
    int data_;
    std::uint32_t index_ = 0;
    alignas(8) volatile std::uint32_t word_ = 0;
};

/// The largest size for which a condition holds. It must hold for all smaller sizes and no larger
/// one.
std::size_t find_largest(std::size_t from, std::size_t to,
                         const std::function<bool(std::size_t)>& holds) {
    std::size_t largest = 0;
    for (std::size_t size = from; size <= to; ++size) {
        if (!holds(size)) {
            continue;
        }
        if (largest != 0 && largest + 1 != size) {
            step("there is one limit", false);
        }
        largest = size;
    }
    step("the limit is between these sizes", largest >= from && largest < to);
    return largest;
}

/// Records in the buffer of the one processor.
unsigned records_of_ftrace() {
    FILE* const file = std::fopen(TRACING "per_cpu/cpu0/stats", "r");
    unsigned entries = 0;
    const bool read = file != nullptr && std::fscanf(file, "entries: %u", &entries) == 1;
    if (file != nullptr) {
        static_cast<void>(std::fclose(file));
    }
    if (!read) {
        step("ftrace counts records", false);
    }
    return entries;
}

std::size_t largest_for_ftrace(event_by_hand& event) {
    const std::string enable = std::string(by_hand) + "enable";
    set_file(enable.c_str(), "1");
    clear_trace();
    unsigned before = records_of_ftrace();
    const std::size_t largest = find_largest(4000, 4200, [&](std::size_t size) {
        event.write(size);
        const unsigned after = records_of_ftrace();
        const bool arrived = after == before + 1;
        before = after;
        return arrived;
    });
    set_file(enable.c_str(), "0");
    return largest;
}

/// perf's buffer: a control page, then the records of this process.
class perf_buffer {
  public:
    perf_buffer() {
        perf_event_attr wanted{};
        wanted.size = sizeof wanted;
        wanted.type = PERF_TYPE_TRACEPOINT;
        wanted.config =
            static_cast<std::uint64_t>(read_number((std::string(by_hand) + "id").c_str()));
        wanted.sample_period = 1;
        wanted.sample_type = PERF_SAMPLE_RAW;
        file_ = static_cast<int>(::syscall(SYS_perf_event_open, &wanted, 0, -1, -1, 0UL));
        void* const mapped = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
        step("perf listens", file_ >= 0 && mapped != MAP_FAILED);
        about_ = static_cast<perf_event_mmap_page*>(mapped);
    }
    ~perf_buffer() {
        static_cast<void>(::munmap(about_, size));
        static_cast<void>(::close(file_));
    }
    perf_buffer(const perf_buffer&) = delete;
    perf_buffer& operator=(const perf_buffer&) = delete;

    /// Consumes all records; returns their size in bytes.
    std::uint64_t consume() {
        const std::uint64_t head = std::atomic_ref(about_->data_head).load();
        return head - std::exchange(taken_, head);
    }
    /// Releases consumed records to the kernel.
    void release() { std::atomic_ref(about_->data_tail).store(taken_); }

  private:
    static constexpr std::size_t size = std::size_t{1 + 16} * 4096;
    int file_ = -1;
    perf_event_mmap_page* about_ = nullptr;
    std::uint64_t taken_ = 0;
};

std::size_t largest_for_perf(event_by_hand& event) {
    perf_buffer buffer;
    return find_largest(8100, 8300, [&](std::size_t size) {
        event.write(size);
        const bool arrived = buffer.consume() >= size;
        buffer.release();
        return arrived;
    });
}

/// The largest payload of the library, which counts larger ones as too large.
std::size_t largest_for_library() {
    set_event_enabled("limits_word", true);
    step("the gate opens", wait_until([] { return limits::enabled<word>(); }));
    const auto counters = [] {
        return limits::status().routes[EVENTLOG_ROUTE_USER_EVENTS].counters;
    };
    const std::size_t largest = find_largest(4000, 4200, [&](std::size_t size) {
        const auto before = counters();
        const std::string text(size - text_head - 1, 'x');
        limits::emit(word{text});
        const auto after = counters();
        const bool written = after.written == before.written + 1;
        if (written == (after.lost_too_large == before.lost_too_large + 1)) {
            step("an event that is not written is counted as too large", false);
        }
        return written;
    });
    set_event_enabled("limits_word", false);
    return largest;
}

}  // namespace

int main() {
    set_file(TRACING "buffer_size_kb", "4096");  // keeps all records
    event_by_hand event;
    std::printf("ftrace %zu\n", largest_for_ftrace(event));
    std::printf("perf %zu\n", largest_for_perf(event));
    std::printf("library %zu\n", largest_for_library());
    return 0;
}
