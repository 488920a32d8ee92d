// SPDX-License-Identifier: MIT
#include "platform/time_namespace.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "platform/startup_section.hpp"
#include "platform/unique_fd.hpp"

namespace eventlog::core {
namespace {

constexpr std::int64_t nanoseconds_per_second = 1'000'000'000;
constexpr std::int64_t offset_seconds_max = INT64_MAX / nanoseconds_per_second - 1;

[[EVENTLOG_STARTUP_SECTION]] constinit std::atomic<std::int64_t> monotonic_offset{0};
[[EVENTLOG_STARTUP_SECTION]] constinit std::atomic<std::int64_t> boottime_offset{0};
[[EVENTLOG_STARTUP_SECTION]] constinit std::atomic<bool> were_read{false};

/// Takes a word and the spaces behind it.
bool take_word(const char*& at, const char* word) noexcept {
    const std::size_t size = std::strlen(word);
    if (std::strncmp(at, word, size) != 0 || at[size] != ' ') {
        return false;
    }
    at += size;
    at += std::strspn(at, " ");
    return true;
}

/// Takes a number, whose absolute value is limited, and the spaces behind it.
bool take_integer(const char*& at, std::int64_t max, std::int64_t& number) noexcept {
    const bool is_negative = *at == '-';
    at += is_negative ? 1 : 0;
    const char* const begin = at;
    for (number = 0; *at >= '0' && *at <= '9'; ++at) {
        if (number > (max - (*at - '0')) / 10) {
            return false;
        }
        number = number * 10 + (*at - '0');
    }
    const bool has_digits = at != begin;
    number = is_negative ? -number : number;
    at += std::strspn(at, " ");
    return has_digits;
}

bool take_offset(const char*& at, std::int64_t& offset) noexcept {
    std::int64_t seconds = 0;
    std::int64_t nanoseconds = 0;
    if (!take_integer(at, offset_seconds_max, seconds) ||
        !take_integer(at, nanoseconds_per_second - 1, nanoseconds) || nanoseconds < 0) {
        return false;
    }
    offset = seconds * nanoseconds_per_second + nanoseconds;
    return true;
}

/// The inode of a namespace; 0 if it cannot be read.
[[gnu::noinline]] std::uint64_t namespace_inode(const char* path) noexcept {
    const unique_fd file(::open(path, O_RDONLY | O_CLOEXEC));
    struct stat status {};
    return file && ::fstat(file.get(), &status) == 0 ? status.st_ino : 0;
}

/// The file has the offsets of the namespace of this process's children.
bool is_namespace_of_children() noexcept {
    const std::uint64_t own = namespace_inode("/proc/self/ns/time");
    return own != 0 && own == namespace_inode("/proc/self/ns/time_for_children");
}

}  // namespace

bool parse_time_offsets(const char* text, time_offsets& offsets) noexcept {
    bool has_monotonic = false;
    bool has_boottime = false;
    for (const char* at = text; *at != '\0'; at += std::strspn(at, "\n")) {
        if (take_word(at, "monotonic")) {
            has_monotonic = take_offset(at, offsets.monotonic);
        } else if (take_word(at, "boottime")) {
            has_boottime = take_offset(at, offsets.boottime);
        }
        at += std::strcspn(at, "\n");
    }
    return has_monotonic && has_boottime;
}

void read_time_offsets() noexcept {
    const int error = errno;
    if (is_namespace_of_children()) {
        const unique_fd file(::open("/proc/self/timens_offsets", O_RDONLY | O_CLOEXEC));
        std::array<char, 128> text{};  // two lines of at most 42 characters
        time_offsets offsets;
        if (file && ::pread(file.get(), text.data(), text.size() - 1, 0) > 0 &&
            parse_time_offsets(text.data(), offsets)) {
            monotonic_offset.store(offsets.monotonic, std::memory_order_relaxed);
            boottime_offset.store(offsets.boottime, std::memory_order_relaxed);
        }
    }
    were_read.store(true, std::memory_order_release);
    errno = error;
}

[[gnu::noinline]] time_offsets own_time_offsets() noexcept {
    if (!were_read.load(std::memory_order_acquire)) [[unlikely]] {
        read_time_offsets();
    }
    return {monotonic_offset.load(std::memory_order_relaxed),
            boottime_offset.load(std::memory_order_relaxed)};
}

std::uint64_t machine_start_time(std::uint64_t start_time) noexcept {
    const std::int64_t offset = own_time_offsets().boottime;
    return offset == 0 ? start_time
                       : machine_start_time(start_time, offset,
                                            nanoseconds_per_second / ::sysconf(_SC_CLK_TCK));
}

std::uint64_t machine_start_time(std::uint64_t start_time, std::int64_t offset,
                                 std::int64_t tick) noexcept {
    std::int64_t time = 0;
    if (start_time > INT64_MAX ||
        __builtin_mul_overflow(static_cast<std::int64_t>(start_time), tick, &time) ||
        __builtin_sub_overflow(time, offset, &time)) {
        return start_time;
    }
    return static_cast<std::uint64_t>(std::max<std::int64_t>(time / tick, 1));  // 0 is unknown
}

}  // namespace eventlog::core
