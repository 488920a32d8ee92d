// SPDX-License-Identifier: MIT
#include "cli/whole_files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/user_error.hpp"
#include "platform/unique_fd.hpp"

namespace elog {

std::string read_file_up_to(const std::string& path, std::size_t size) {
    const eventlog::core::unique_fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) {
        throw user_error("Cannot open {}: {}.", path, std::strerror(errno));
    }
    std::string content;
    std::array<char, 65536> part{};
    while (content.size() < size) {
        const ssize_t got = ::read(file.get(), part.data(), part.size());
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            throw user_error("Cannot read {}: {}.", path, std::strerror(errno));
        }
        if (got == 0) {
            break;
        }
        content.append(part.data(), static_cast<std::size_t>(got));
    }
    return content;
}

}  // namespace elog
