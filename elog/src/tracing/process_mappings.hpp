// SPDX-License-Identifier: MIT
//
// Code mappings of processes: from /proc while they run, and from the kernel's notifications for
// those that exit.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

namespace elog {

struct code_mapping {
    std::uint64_t end = 0;
    std::uint64_t offset = 0;  // of its beginning in the file
    std::uint64_t file = 0;    // inode; 0: unknown
    std::string path;
};

class process_mappings {
  public:
    using by_address = std::map<std::uint64_t, code_mapping>;
    /// Content of /proc/PID/maps; empty if the process does not exist.
    using read_maps = std::function<std::string(std::uint32_t process)>;

    process_mappings();
    explicit process_mappings(read_maps read) : read_(std::move(read)) {}

    /// A new process starts with the known mappings of its parent.
    void add_fork(std::uint32_t process, std::uint32_t parent);
    void add_mapping(std::uint32_t process, std::uint64_t address, code_mapping mapping);

    struct place {
        const code_mapping* mapping = nullptr;  // valid until the next call; nullptr: unknown
        std::uint64_t offset = 0;               // in the file
    };
    [[nodiscard]] place find(std::uint32_t process, std::uint64_t address);

  private:
    using steady_clock = std::chrono::steady_clock;
    struct entry {
        by_address mappings;
        steady_clock::time_point read_due{};  // /proc is not read again before
    };

    entry& entry_of(std::uint32_t process);
    void read_again(std::uint32_t process, entry& known);

    read_maps read_;
    std::unordered_map<std::uint32_t, entry> processes_;
};

/// Parses the executable mappings. Invalid lines are skipped.
[[nodiscard]] process_mappings::by_address parse_maps(std::string_view text);

}  // namespace elog
