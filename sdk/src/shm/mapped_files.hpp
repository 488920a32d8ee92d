// SPDX-License-Identifier: MIT
//
// Which files a process maps: an exec keeps the process but not its mappings.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace eventlog::core {

/// Remembers what it has read of one process: that may have published thousands of files, and as
/// many lines are to be read each time.
class mapped_files {
  public:
    mapped_files() noexcept = default;
    ~mapped_files();
    mapped_files(const mapped_files&) = delete;
    mapped_files& operator=(const mapped_files&) = delete;

    /// False only if the process certainly does not map that file (any more). The process must be
    /// of our own pid namespace. The file must be open: else its number may be another's by now.
    [[nodiscard]] bool may_map(std::uint32_t pid, dev_t device, ino_t inode) noexcept;

  private:
    void read(std::uint32_t pid, dev_t device) noexcept;
    [[nodiscard]] bool add(ino_t inode) noexcept;
    [[nodiscard]] bool found(std::uint32_t pid, dev_t device, ino_t inode) const noexcept;

    std::uint32_t pid_ = 0;  // whose files these are
    dev_t device_ = 0;       // and on which device
    bool is_known_ = false;
    bool is_unreadable_ = false;  // it cannot be told
    ino_t* inodes_ = nullptr;     // sorted
    std::size_t count_ = 0;
    std::size_t room_ = 0;
};

}  // namespace eventlog::core
