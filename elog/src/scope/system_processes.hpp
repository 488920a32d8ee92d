// SPDX-License-Identifier: MIT
//
// The processes of this machine: from /proc, wait functions and the kernel's reports of forks.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "scope/fork_events.hpp"
#include "scope/process_source.hpp"

namespace elog {

class system_processes : public process_source {
  public:
    /// Makes this process the subreaper of its descendants until the object is destroyed: their
    /// orphans become its children, and reap_orphan() has to be called. Throws user_error.
    system_processes();
    ~system_processes() override;
    system_processes(const system_processes&) = delete;
    system_processes& operator=(const system_processes&) = delete;

    [[nodiscard]] std::uint32_t self() const override;
    [[nodiscard]] std::optional<process_stat> find(std::uint32_t pid) override;
    [[nodiscard]] std::vector<process_stat> find_all() override;
    [[nodiscard]] std::uint32_t innermost_pid(std::uint32_t pid) override;
    [[nodiscard]] bool take_forks(std::vector<fork_event>& forks) override {
        return forks_.take(forks);
    }
    [[nodiscard]] std::optional<process_stat> reap_orphan(std::uint32_t command) override;

  private:
    bool has_proc_;
    fork_events forks_;
};

/// Parses /proc/PID/stat.
[[nodiscard]] std::optional<process_stat> parse_process_stat(std::string_view text);

}  // namespace elog
