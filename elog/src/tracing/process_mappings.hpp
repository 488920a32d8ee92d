// SPDX-License-Identifier: MIT
//
// Which code processes have mapped, and from which files: of those that live, and of those that
// have ended as far as it was told while they lived.
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
    std::uint64_t offset = 0;  // in the file, of where it begins
    std::uint64_t file = 0;    // its number in its file system; 0: not known
    std::string path;
};

class process_mappings {
  public:
    using by_address = std::map<std::uint64_t, code_mapping>;
    /// /proc/PID/maps; empty: there is no such process any more.
    using read_maps = std::function<std::string(std::uint32_t process)>;

    process_mappings();
    explicit process_mappings(read_maps read) : read_(std::move(read)) {}

    /// It has what its parent has, as far as that is known.
    void add_fork(std::uint32_t process, std::uint32_t parent);
    void add_mapping(std::uint32_t process, std::uint64_t address, code_mapping mapping);

    struct place {
        const code_mapping* mapping = nullptr;  // until the next call; nullptr: not known
        std::uint64_t offset = 0;               // in the file
    };
    [[nodiscard]] place find(std::uint32_t process, std::uint64_t address);

  private:
    using steady_clock = std::chrono::steady_clock;
    struct entry {
        by_address mappings;
        steady_clock::time_point look_due{};  // /proc is not asked again before
    };

    entry& entry_of(std::uint32_t process);
    void look(std::uint32_t process, entry& known);

    read_maps read_;
    std::unordered_map<std::uint32_t, entry> processes_;
};

/// The executable ones of such a text. What makes no sense is left out.
[[nodiscard]] process_mappings::by_address parse_maps(std::string_view text);

}  // namespace elog
