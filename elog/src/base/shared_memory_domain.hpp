// SPDX-License-Identifier: MIT
//
// Which /dev/shm a process has: containers have one of their own.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace elog {

struct shared_memory_domain {
    std::string memory;   // the file system and the folder in it; the same for those who share it
    std::string users;    // the namespace of users
    std::string numbers;  // the namespace of processes
    uid_t user = 0;       // as it is called here
};

/// By what the kernel says of processes in /proc: nothing of theirs is opened.
class shared_memory_domains {
  public:
    /// Nothing if there is no such process, if we may not know, or if it is of several users at
    /// once, or a thread of the kernel's.
    [[nodiscard]] std::optional<shared_memory_domain> of(pid_t process);

    /// How many processes were left out because there are too many mounts to look through.
    [[nodiscard]] std::size_t left_out() const noexcept { return left_out_; }

  private:
    /// Where a process is that has these mounts and that root directory.
    using mount_view = std::pair<std::string, std::string>;

    [[nodiscard]] std::optional<std::string> find_memory(pid_t process);

    // Most processes of a machine have the same; empty: too many mounts.
    std::map<mount_view, std::string> known_;
    std::size_t left_out_ = 0;
};

/// What a process that has these mounts, as its file `mountinfo` says, finds in a path without
/// links: "device:folder". Empty if no mount is there.
[[nodiscard]] std::string mounted_at(std::string_view mounts, std::string_view path);

/// What a process is called; "?" if it is not known.
[[nodiscard]] std::string name_of_process(pid_t process);

}  // namespace elog
