// SPDX-License-Identifier: MIT
//
// The files that a process maps. An exec keeps the process but not its mappings.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace eventlog::core {

/// Caches the list of one process, because a process may have published thousands of files, and the
/// list has as many lines.
class mapped_files {
  public:
    mapped_files() noexcept = default;
    ~mapped_files();
    mapped_files(const mapped_files&) = delete;
    mapped_files& operator=(const mapped_files&) = delete;

    /// False only if the process certainly does not map the file. Preconditions: the process is in
    /// this pid namespace, and the file is open, because otherwise its inode number may belong to
    /// another file.
    [[nodiscard]] bool may_map(std::uint32_t pid, dev_t device, ino_t inode) noexcept;

  private:
    void read(std::uint32_t pid, dev_t device) noexcept;
    [[nodiscard]] bool add(ino_t inode) noexcept;
    [[nodiscard]] bool found(std::uint32_t pid, dev_t device, ino_t inode) const noexcept;

    std::uint32_t pid_ = 0;  // the process whose files these are
    dev_t device_ = 0;       // the device of the files
    bool is_known_ = false;
    bool is_unreadable_ = false;  // the list could not be read
    ino_t* inodes_ = nullptr;     // sorted
    std::size_t count_ = 0;
    std::size_t room_ = 0;
};

}  // namespace eventlog::core
