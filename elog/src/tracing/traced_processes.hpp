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
    /// What the kernel still knows of a process that does not, or, if it has not said whose it is,
    /// of a thread; may be empty.
    using saved_name = std::function<std::string(std::uint32_t process)>;

    /// Looks in /proc.
    explicit traced_processes(saved_name dead);
    traced_processes(look_up living, saved_name dead)
        : living_(std::move(living)), dead_(std::move(dead)) {}

    /// The process of the thread, which may have ended, and which the kernel may have said; 0: it
    /// has not. Looked up again after a second: the thread's number may be another one's then.
    /// Stays until the next call.
    [[nodiscard]] const traced_process& of(std::uint32_t thread, std::uint32_t process = 0);

  private:
    using clock = std::chrono::steady_clock;
    struct entry {
        traced_process process;
        clock::time_point looked_up;
    };

    [[nodiscard]] std::optional<traced_process> find_living(std::uint32_t thread,
                                                            std::uint32_t process) const;

    look_up living_;
    saved_name dead_;
    std::unordered_map<std::uint32_t, entry> known_;
};

}  // namespace elog
