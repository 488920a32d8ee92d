// SPDX-License-Identifier: MIT
//
// Whose the threads are that a file's records name, as far as the file says.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "traced_processes.hpp"

namespace elog {

class recorded_processes {
  public:
    /// Somebody is called like that from now on.
    void rename(std::uint32_t pid, std::uint32_t thread, std::string_view name);
    /// The same, of a process that became another program at that time.
    void become(std::uint32_t pid, std::string_view name, std::uint64_t time);
    /// A new process, called as the one that it was made by.
    void fork(std::uint32_t parent, std::uint32_t pid, std::uint64_t time);

    /// Stays until the next call.
    [[nodiscard]] const traced_process& of(std::uint32_t pid);

  private:
    std::unordered_map<std::uint32_t, traced_process> known_;
};

}  // namespace elog
