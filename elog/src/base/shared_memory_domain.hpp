// SPDX-License-Identifier: MIT
//
// Finds the /dev/shm of a process: a container has its own.
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
    std::string memory;   // file system and folder in it; equal for processes that share /dev/shm
    std::string users;    // the user namespace
    std::string numbers;  // the PID namespace
    uid_t user = 0;       // the number in elog's user namespace
};

/// Reads /proc only; opens no file of the processes.
class shared_memory_domains {
  public:
    /// nullopt if there is no such process, if its files in /proc cannot be read, if its user
    /// numbers differ (a setuid program), or if it is a kernel thread.
    [[nodiscard]] std::optional<shared_memory_domain> of(pid_t process);

    /// The number of processes that were skipped because of too many mounts.
    [[nodiscard]] std::size_t left_out() const noexcept { return left_out_; }

  private:
    /// Mount namespace and root directory, which decide what /dev/shm is.
    using mount_view = std::pair<std::string, std::string>;

    [[nodiscard]] std::optional<std::string> find_memory(pid_t process);

    // Most processes of a machine share one. Value: as shared_memory_domain::memory; empty: too
    // many mounts.
    std::map<mount_view, std::string> known_;
    std::size_t left_out_ = 0;
};

/// The place of `path`, which has no symbolic links, for a process with the mounts of this
/// `mountinfo`: "device:folder". Empty if no mount contains it.
[[nodiscard]] std::string mounted_at(std::string_view mounts, std::string_view path);

/// The command name of a process; "?" if it is not known.
[[nodiscard]] std::string name_of_process(pid_t process);

}  // namespace elog
