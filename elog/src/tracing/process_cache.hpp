// SPDX-License-Identifier: MIT
//
// Processes of the threads in the kernel's records: read from /proc while they run, and cached
// afterwards.
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
    std::uint64_t start_time = 0;  // clock ticks after boot; 0: it had exited
    std::string name;

    friend bool operator==(const process_info&, const process_info&) = default;
};

class process_cache {
  public:
    /// The process of a running thread; nothing if it does not exist.
    using process_lookup = std::function<std::optional<process_info>(std::uint32_t thread)>;
    /// The name that the kernel has saved for a process that has exited or, if its number is
    /// unknown, for a thread; may be empty.
    using saved_name_lookup = std::function<std::string(std::uint32_t process)>;

    /// Uses /proc.
    explicit process_cache(saved_name_lookup dead);
    process_cache(process_lookup living, saved_name_lookup dead)
        : lookup_(std::move(living)), dead_(std::move(dead)) {}

    /// The process of the thread, which may have exited. `process` is its number if the kernel
    /// states it, else 0. Looked up again after a second, because the thread's number may have been
    /// reused. Valid until the next call.
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
