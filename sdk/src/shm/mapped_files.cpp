// SPDX-License-Identifier: MIT
#include "shm/mapped_files.hpp"

#include <sys/sysmacros.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace eventlog::core {
namespace {

/// Parses device and inode of a line of /proc/PID/maps: "from-to mode offset major:minor inode
/// path".
bool parse_mapping(const char* line, dev_t& device, ino_t& inode) noexcept {
    unsigned major_number = 0;
    unsigned minor_number = 0;
    unsigned long number = 0;
    if (std::sscanf(line, "%*s %*s %*s %x:%x %lu", &major_number, &minor_number, &number) != 3) {
        return false;
    }
    device = makedev(major_number, minor_number);
    inode = number;
    return true;
}

}  // namespace

mapped_files::~mapped_files() {
    std::free(inodes_);
}

bool mapped_files::add(ino_t inode) noexcept {
    // Several mappings of one file are usually adjacent.
    if (count_ != 0 && inodes_[count_ - 1] == inode) {
        return true;
    }
    if (count_ == room_) {
        const std::size_t larger = room_ == 0 ? 64 : 2 * room_;
        auto* const inodes = static_cast<ino_t*>(std::realloc(inodes_, larger * sizeof inode));
        if (inodes == nullptr) {
            return false;
        }
        inodes_ = inodes;
        room_ = larger;
    }
    inodes_[count_++] = inode;
    return true;
}

void mapped_files::read(std::uint32_t pid, dev_t device) noexcept {
    pid_ = pid;
    device_ = device;
    is_known_ = true;
    is_unreadable_ = false;
    count_ = 0;
    std::array<char, 32> path{};
    static_cast<void>(std::snprintf(path.data(), path.size(), "/proc/%u/maps", pid));
    std::FILE* maps = std::fopen(path.data(), "re");
    if (maps == nullptr) {
        is_unreadable_ = errno != ENOENT;
        return;
    }
    char* line = nullptr;
    std::size_t capacity = 0;
    bool has_lines = false;
    while (::getline(&line, &capacity, maps) > 0) {
        has_lines = true;
        dev_t found_device = 0;
        ino_t inode = 0;
        if (parse_mapping(line, found_device, inode) && found_device == device && !add(inode)) {
            is_unreadable_ = true;
        }
    }
    std::free(line);
    static_cast<void>(std::fclose(maps));
    // An empty file: access was denied, or the process is just ending.
    is_unreadable_ = is_unreadable_ || !has_lines;
    std::sort(inodes_, inodes_ + count_);
}

bool mapped_files::found(std::uint32_t pid, dev_t device, ino_t inode) const noexcept {
    return is_known_ && pid_ == pid && device_ == device &&
           (is_unreadable_ || std::binary_search(inodes_, inodes_ + count_, inode));
}

bool mapped_files::may_map(std::uint32_t pid, dev_t device, ino_t inode) noexcept {
    if (found(pid, device, inode)) {
        return true;
    }
    // The file may have been mapped since the last read, so the list is read again before the
    // answer is no.
    read(pid, device);
    return found(pid, device, inode);
}

}  // namespace eventlog::core
