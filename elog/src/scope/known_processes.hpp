// SPDX-License-Identifier: MIT
//
// Verdicts about processes, kept after the processes have ended.
//
// A process is identified by pid and start time, because pids are reused. One thread uses it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

namespace elog {

class known_processes {
  public:
    /// Beyond that number the oldest entries are forgotten.
    static constexpr std::size_t default_limit = std::size_t{1} << 20U;

    explicit known_processes(std::size_t limit = default_limit) : limit_(limit) {}

    /// A process whose start time is exact. Replaces what is known about it.
    void add(std::uint32_t pid, std::uint64_t start_time, bool is_inside);
    /// A process that started at that tick or one tick earlier.
    void add_forked(std::uint32_t pid, std::uint64_t time, bool is_inside);

    /// Whether the process is inside; nothing if it is unknown. Start time 0 means the newest
    /// process with that pid.
    [[nodiscard]] std::optional<bool> find(std::uint32_t pid, std::uint64_t start_time) const;

    /// Whether a process that is inside has been forgotten.
    [[nodiscard]] bool has_forgotten_inside() const noexcept { return has_forgotten_inside_; }

  private:
    struct entry {
        std::uint64_t start_time = 0;
        bool is_exact = false;
        bool is_inside = false;

        /// Whether it may be the process that started at `exact_time`.
        [[nodiscard]] bool is_of(std::uint64_t exact_time) const noexcept {
            return start_time == exact_time || (!is_exact && start_time == exact_time + 1);
        }
    };

    void append(std::uint32_t pid, const entry& added);
    void forget_oldest();

    std::size_t limit_;
    bool has_forgotten_inside_ = false;
    std::unordered_map<std::uint32_t, std::vector<entry>> by_pid_;  // the newest last
    std::deque<std::uint32_t> order_;                               // a pid for each entry
};

}  // namespace elog
