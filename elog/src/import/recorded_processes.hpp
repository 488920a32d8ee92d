// SPDX-License-Identifier: MIT
//
// Processes of the threads in a file's records, as far as the file describes them.
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
    /// More processes than this rarely exist at once; beyond it, all are forgotten.
    static constexpr std::size_t known_max = 65536;

    /// The thread has this name from now on.
    void rename(std::uint32_t pid, std::uint32_t thread, std::string_view name);
    /// As rename(), for a process that executed another program at that time.
    void become(std::uint32_t pid, std::string_view name, std::uint64_t time);
    /// A new process with the name of its parent.
    void fork(std::uint32_t parent, std::uint32_t pid, std::uint64_t time);

    /// Valid until the next call.
    [[nodiscard]] const process_info& of(std::uint32_t pid);
    /// Whether the process has been described or requested before and not forgotten.
    [[nodiscard]] bool knows(std::uint32_t pid) const;

  private:
    [[nodiscard]] process_info& entry_of(std::uint32_t pid);

    // Not a hash table: the maker of the file could choose numbers that collide.
    std::map<std::uint32_t, process_info> known_;
};

}  // namespace elog
