// SPDX-License-Identifier: MIT
//
// Access to files that other processes may truncate, without a mapping: a missing part is an error
// and not a SIGBUS. Readers of an aligned word see the old value or the new one.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "platform/unique_fd.hpp"

namespace eventlog::core {

/// False if not all bytes could be read.
[[nodiscard]] inline bool read_exactly(const unique_fd& file, void* data, std::size_t size,
                                       std::uint64_t offset) noexcept {
    ssize_t got = 0;
    do {
        got = ::pread(file.get(), data, size, static_cast<off_t>(offset));
    } while (got < 0 && errno == EINTR);
    return got == static_cast<ssize_t>(size);
}

/// Whether the limit of file sizes is known and allows a file of that size. A write behind the
/// limit ends the process by a signal, also one inside a file that has become larger before.
[[nodiscard]] inline bool is_size_allowed(std::uint64_t size) noexcept {
    struct rlimit limit {};
    return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
           (limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur);
}

/// False if not all bytes could be written, or if the limit of file sizes forbids it.
inline bool write_exactly(const unique_fd& file, const void* data, std::size_t size,
                          std::uint64_t offset) noexcept {
    return is_size_allowed(offset + size) &&
           ::pwrite(file.get(), data, size, static_cast<off_t>(offset)) ==
               static_cast<ssize_t>(size);
}

}  // namespace eventlog::core
