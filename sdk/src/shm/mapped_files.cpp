// SPDX-License-Identifier: MIT
#include "shm/mapped_files.hpp"

#include <fcntl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "platform/short_text.hpp"
#include "platform/unique_fd.hpp"

namespace eventlog::core {
namespace {

/// Finds a file in the lines of /proc/PID/maps, "from-to mode offset major:minor inode path", which
/// arrive in parts.
class line_reader {
  public:
    line_reader(dev_t device, ino_t inode) noexcept : device_(device), inode_(inode) {}

    /// Whether the next character ends the line of a mapping of the file.
    bool take(char next) noexcept {
        if (next == '\n') {
            const bool is_file = field_ >= inode_field && found_inode_ == inode_ &&
                                 makedev(major_, minor_) == device_;
            field_ = 0;
            major_ = minor_ = 0;
            found_inode_ = 0;
            return is_file;
        }
        if (next == ' ') {
            ++field_;
        } else if (field_ == device_field) {
            take_device(next);
        } else if (field_ == inode_field) {
            found_inode_ = 10 * found_inode_ + static_cast<ino_t>(next - '0');
        }
        return false;
    }

  private:
    static constexpr unsigned device_field = 3;
    static constexpr unsigned inode_field = 4;

    /// Hexadecimal numbers with a colon between them.
    void take_device(char next) noexcept {
        if (next == ':') {
            major_ = minor_;
            minor_ = 0;
        } else {
            minor_ =
                16 * minor_ + static_cast<unsigned>(next <= '9' ? next - '0' : next - 'a' + 10);
        }
    }

    dev_t device_;
    ino_t inode_;
    unsigned field_ = 0;
    unsigned major_ = 0;
    unsigned minor_ = 0;
    ino_t found_inode_ = 0;
};

}  // namespace

bool may_map(std::uint32_t pid, dev_t device, ino_t inode) noexcept {
    short_text<32> path;
    path.put("/proc/").put_number(pid).put("/maps");
    const unique_fd maps(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!maps) {
        return errno != ENOENT;
    }
    line_reader lines(device, inode);
    bool has_lines = false;
    for (;;) {
        std::array<char, 1024> part{};
        const ssize_t size = ::read(maps.get(), part.data(), part.size());
        if (size < 0 && errno == EINTR) {
            continue;
        }
        if (size <= 0) {
            // An empty file: access was denied, or the process is just ending.
            return size < 0 || !has_lines;
        }
        has_lines = true;
        for (ssize_t i = 0; i < size; ++i) {
            if (lines.take(part[static_cast<std::size_t>(i)])) {
                return true;
            }
        }
    }
}

}  // namespace eventlog::core
