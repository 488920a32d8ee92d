// SPDX-License-Identifier: MIT
//
// Which /dev/shm a process has: containers have one of their own.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

namespace elog {

struct shared_memory_place {
    std::string memory;   // the file system and the folder in it; the same for those who share it
    std::string users;    // the namespace of users
    std::string numbers;  // the namespace of processes
    uid_t user = 0;       // as it is called here
    std::string process_name;
};

/// By what the kernel says of it in /proc: nothing of the process's is opened. Nothing if there is
/// no such process, if we may not know, or if it is of several users at once, or a thread of the
/// kernel's.
[[nodiscard]] std::optional<shared_memory_place> find_shared_memory_place(pid_t process);

/// What a process that has these mounts, as its file `mountinfo` says, finds in a path without
/// links: "device:folder". Empty if no mount is there.
[[nodiscard]] std::string mounted_at(std::string_view mounts, std::string_view path);

}  // namespace elog
