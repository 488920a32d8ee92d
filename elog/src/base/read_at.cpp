// SPDX-License-Identifier: MIT
#include "base/read_at.hpp"

#include <unistd.h>

#include <cerrno>

namespace elog {

bool read_at(const eventlog::core::unique_fd& file, void* data, std::size_t size,
             std::uint64_t offset) noexcept {
    auto* cursor = static_cast<std::uint8_t*>(data);
    while (size != 0) {
        const ssize_t got = ::pread(file.get(), cursor, size, static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return false;
        }
        cursor += got;
        size -= static_cast<std::size_t>(got);
        offset += static_cast<std::uint64_t>(got);
    }
    return true;
}

}  // namespace elog
