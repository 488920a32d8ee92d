// SPDX-License-Identifier: MIT
//
// What processes were called that have ended, as far as it was told while they lived.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace elog {

/// A process has begun, or got another name.
struct process_change {
    std::uint64_t time = 0;
    std::uint32_t process = 0;
    std::uint32_t parent = 0;  // whose name it has; 0: none
    std::string name{};        // if it has no parent
};

class process_names {
  public:
    /// The name of one that lives; empty: there is none.
    using name_lookup = std::function<std::string(std::uint32_t process)>;

    /// /proc, unless a test has another.
    process_names();
    explicit process_names(name_lookup living) : lookup_(std::move(living)) {}

    /// In whatever order they were told: what is older than what is known changes nothing.
    void take(std::vector<process_change> changes);

    /// Empty: nobody has told.
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
