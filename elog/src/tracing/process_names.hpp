// SPDX-License-Identifier: MIT
//
// Names of processes that have exited, from the kernel's notifications while they ran.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace elog {

/// A process has started or changed its name.
struct process_change {
    std::uint64_t time = 0;
    std::uint32_t process = 0;
    std::uint32_t parent = 0;  // the process whose name it inherits; 0: none
    std::string name{};        // if there is no parent
};

class process_names {
  public:
    /// The name of a running process; empty if it does not exist.
    using name_lookup = std::function<std::string(std::uint32_t process)>;

    /// Uses /proc; tests replace it.
    process_names();
    explicit process_names(name_lookup living) : lookup_(std::move(living)) {}

    /// In any order: a change older than the known one has no effect.
    void take(std::vector<process_change> changes);

    /// Empty if unknown.
    [[nodiscard]] std::string of(std::uint32_t process) const;

  private:
    struct entry {
        std::uint64_t time = 0;
        std::string name;
    };

    name_lookup lookup_;
    std::unordered_map<std::uint32_t, entry> known_;
};

}  // namespace elog
