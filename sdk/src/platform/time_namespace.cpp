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

#include "platform/unique_fd.hpp"

namespace eventlog::core {
namespace {

constexpr std::int64_t nanoseconds_per_second = 1'000'000'000;
constexpr std::int64_t offset_seconds_max = INT64_MAX / nanoseconds_per_second - 1;

constinit std::atomic<std::int64_t> monotonic_offset{0};
constinit std::atomic<std::int64_t> boottime_offset{0};
constinit std::atomic<bool> were_read{false};

/// Removes and returns the first word of a line; empty at its end.
std::string_view take_word(std::string_view& line) noexcept {
    const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
    line.remove_prefix(begin);
    const std::string_view word = line.substr(0, line.find(' '));
    line.remove_prefix(word.size());
    return word;
}

std::optional<std::int64_t> parse_integer(std::string_view word, std::int64_t max) noexcept {
    const bool is_negative = word.starts_with('-');
    word.remove_prefix(is_negative ? 1 : 0);
    std::int64_t number = 0;
    for (const char digit : word) {
        if (digit < '0' || digit > '9' || number > (max - (digit - '0')) / 10) {
            return std::nullopt;
        }
        number = number * 10 + (digit - '0');
    }
    return word.empty() ? std::nullopt : std::optional(is_negative ? -number : number);
}

std::optional<std::int64_t> parse_offset(std::string_view line) noexcept {
    const std::optional<std::int64_t> seconds = parse_integer(take_word(line), offset_seconds_max);
    const std::optional<std::int64_t> nanoseconds =
        parse_integer(take_word(line), nanoseconds_per_second - 1);
    return seconds && nanoseconds && *nanoseconds >= 0
               ? std::optional(*seconds * nanoseconds_per_second + *nanoseconds)
               : std::nullopt;
}

/// The inode of a namespace; 0 if it cannot be read.
std::uint64_t namespace_inode(const char* path) noexcept {
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

std::optional<time_offsets> parse_time_offsets(std::string_view text) noexcept {
    std::optional<std::int64_t> monotonic;
    std::optional<std::int64_t> boottime;
    while (!text.empty()) {
        std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        const std::string_view clock = take_word(line);
        if (clock == "monotonic") {
            monotonic = parse_offset(line);
        } else if (clock == "boottime") {
            boottime = parse_offset(line);
        }
    }
    return monotonic && boottime ? std::optional(time_offsets{*monotonic, *boottime})
                                 : std::nullopt;
}

void read_time_offsets() noexcept {
    const int error = errno;
    if (is_namespace_of_children()) {
        const unique_fd file(::open("/proc/self/timens_offsets", O_RDONLY | O_CLOEXEC));
        std::array<char, 256> text{};
        const ssize_t size = file ? ::pread(file.get(), text.data(), text.size(), 0) : -1;
        const std::optional<time_offsets> found =
            parse_time_offsets({text.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))});
        if (found) {
            monotonic_offset.store(found->monotonic, std::memory_order_relaxed);
            boottime_offset.store(found->boottime, std::memory_order_relaxed);
        }
    }
    were_read.store(true, std::memory_order_release);
    errno = error;
}

time_offsets own_time_offsets() noexcept {
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
