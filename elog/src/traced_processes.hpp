// SPDX-License-Identifier: MIT
//
// Whose the threads are that the kernel's records name: found in /proc while they live, and
// remembered afterwards.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>

namespace elog {

struct traced_process {
    std::uint32_t pid = 0;
    std::uint32_t uid = 0;
    std::uint64_t start_time = 0;  // clock ticks after boot; 0: it was not there any more
    std::string name;

    friend bool operator==(const traced_process&, const traced_process&) = default;
};

class traced_processes {
  public:
    /// Of a thread that lives; nothing: there is none.
    using look_up = std::function<std::optional<traced_process>(std::uint32_t thread)>;
    /// What the kernel still knows of one that does not; may be empty.
    using saved_name = std::function<std::string(std::uint32_t thread)>;

    /// /proc and tracefs, unless a test has others.
    traced_processes();
    traced_processes(look_up living, saved_name dead)
        : living_(std::move(living)), dead_(std::move(dead)) {}

    /// The process of the thread, which may have ended. Looked up again after a second: its number
    /// may be another one's then. Stays until the next call.
    [[nodiscard]] const traced_process& of(std::uint32_t thread);

  private:
    using clock = std::chrono::steady_clock;
    struct entry {
        traced_process process;
        clock::time_point looked_up;
    };

    look_up living_;
    saved_name dead_;
    std::unordered_map<std::uint32_t, entry> known_;
};

}  // namespace elog
