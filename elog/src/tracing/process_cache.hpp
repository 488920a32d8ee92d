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

struct process_info {
    std::uint32_t pid = 0;
    std::uint32_t uid = 0;
    std::uint64_t start_time = 0;  // clock ticks after boot; 0: it was not there any more
    std::string name;

    friend bool operator==(const process_info&, const process_info&) = default;
};

class process_cache {
  public:
    /// Of a thread that lives; nothing: there is none.
    using process_lookup = std::function<std::optional<process_info>(std::uint32_t thread)>;
    /// What the kernel still knows of a process that does not, or, if it has not said whose it is,
    /// of a thread; may be empty.
    using saved_name_lookup = std::function<std::string(std::uint32_t process)>;

    /// Looks in /proc.
    explicit process_cache(saved_name_lookup dead);
    process_cache(process_lookup living, saved_name_lookup dead)
        : lookup_(std::move(living)), dead_(std::move(dead)) {}

    /// The process of the thread, which may have ended, and which the kernel may have said; 0: it
    /// has not. Looked up again after a second: the thread's number may be another one's then.
    /// Stays until the next call.
    [[nodiscard]] const process_info& of(std::uint32_t thread, std::uint32_t process = 0);

  private:
    using clock = std::chrono::steady_clock;
    struct entry {
        process_info process;
        clock::time_point looked_up;
    };

    [[nodiscard]] std::optional<process_info> find_living(std::uint32_t thread,
                                                          std::uint32_t process) const;

    process_lookup lookup_;
    saved_name_lookup dead_;
    std::unordered_map<std::uint32_t, entry> known_;
};

}  // namespace elog
