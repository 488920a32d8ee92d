// SPDX-License-Identifier: MIT
//
// Whose the threads are that a file's records name, as far as the file says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "tracing/process_cache.hpp"

namespace elog {

class recorded_processes {
  public:
    /// More than that live nowhere at once, as a rule: then all are forgotten.
    static constexpr std::size_t known_max = 65536;

    /// Somebody is called like that from now on.
    void rename(std::uint32_t pid, std::uint32_t thread, std::string_view name);
    /// The same, of a process that became another program at that time.
    void become(std::uint32_t pid, std::string_view name, std::uint64_t time);
    /// A new process, called as the one that it was made by.
    void fork(std::uint32_t parent, std::uint32_t pid, std::uint64_t time);

    /// Stays until the next call.
    [[nodiscard]] const process_info& of(std::uint32_t pid);
    /// Whether something has been said or asked of it, and is not forgotten.
    [[nodiscard]] bool knows(std::uint32_t pid) const;

  private:
    [[nodiscard]] process_info& entry_of(std::uint32_t pid);

    // Not by a hash: whoever has made the file may have chosen numbers with the same.
    std::map<std::uint32_t, process_info> known_;
};

}  // namespace elog
