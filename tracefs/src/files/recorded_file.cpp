// SPDX-License-Identifier: MIT
#include "files/recorded_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "kernel/error.hpp"

namespace eventlog::tracefs {

recorded_file::recorded_file(std::string path)
    : path_(std::move(path)), file_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    struct stat status {};
    if (!file_ || ::fstat(file_.get(), &status) != 0) {
        throw error("The file {} cannot be opened ({}). Check its name and permissions.", path_,
                    std::strerror(errno));
    }
    if (!S_ISREG(status.st_mode)) {
        throw error("{} is not a file. Give the name of one that was recorded.", path_);
    }
    size_ = static_cast<std::uint64_t>(status.st_size);
}

std::uint64_t recorded_file::available_bytes(std::uint64_t offset,
                                             std::uint64_t size) const noexcept {
    return offset > size_ ? 0 : std::min(size, size_ - offset);
}

std::vector<std::uint8_t> recorded_file::read(std::uint64_t offset, std::uint64_t size,
                                              std::uint64_t limit, const char* what) const {
    if (available_bytes(offset, size) < size) {
        throw error("{} has {} bytes, and {}, {} bytes from {} on, would be behind its end. It was "
                    "cut off, or its recorder was killed: record it again.",
                    path_, size_, what, size, offset);
    }
    if (size > limit) {
        throw error("{} says that {} has {} bytes, and that is more than the {} that anything of "
                    "the kind has. It is damaged: record it again.",
                    path_, what, size, limit);
    }
    std::vector<std::uint8_t> bytes(size);
    if (read_into(bytes, offset) != size) {
        throw error("{} has become shorter while it was read. Try again.", path_);
    }
    return bytes;
}

std::size_t recorded_file::read_into(std::span<std::uint8_t> to, std::uint64_t offset) const {
    std::size_t done = 0;
    while (done < to.size()) {
        const ssize_t got = ::pread(file_.get(), to.data() + done, to.size() - done,
                                    static_cast<off_t>(offset + done));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            throw error("{} cannot be read ({}). Copy it elsewhere, and try that.", path_,
                        std::strerror(errno));
        }
        if (got == 0) {
            break;
        }
        done += static_cast<std::size_t>(got);
    }
    return done;
}

}  // namespace eventlog::tracefs
