// SPDX-License-Identifier: MIT
//
// How large an event can be. Finds out by writing larger and larger ones by hand what ftrace and
// perf get: a write that is too large for them succeeds all the same. Then emits larger and larger
// ones through libeventlog. Prints the largest payload of each. Takes one processor.
//
// perf has the kernel report an event that is too large as a fault of its own, once.
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

/// Before a text stands the word that says where it is, behind it its NUL.
constexpr std::size_t text_head = 4;

/// An event that only consists of a text, written without the library.
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

/// The largest size for which something holds: for all up to that one, and for none beyond.
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

/// perf's buffer: a page about it, then what it records of this process.
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

    /// Takes all that has been recorded, and tells how many bytes that is.
    std::uint64_t take() {
        const std::uint64_t head = std::atomic_ref(about_->data_head).load();
        return head - std::exchange(taken_, head);
    }
    /// What has been taken may be overwritten.
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
        const bool arrived = buffer.take() >= size;
        buffer.release();
        return arrived;
    });
}

/// What the library takes, and what it counts as too large.
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
            step("what is not written is counted as too large", false);
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
