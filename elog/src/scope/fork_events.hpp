// SPDX-License-Identifier: MIT
//
// The kernel's reports of new processes and threads, from the connector of process events.
//
// The kernel sends them in its first pid and network namespace, to unprivileged processes since
// Linux 6.6. Nothing arrives elsewhere, so a caller has to check that a process which it knows is
// among them. A report is in the socket before the process that it is about runs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "platform/unique_fd.hpp"
#include "scope/process_source.hpp"

namespace elog {

class fork_events {
  public:
    /// Starts to collect. Without the connector, take() returns false.
    fork_events();

    /// As process_source::take_forks. A new thread is reported as a child of its process.
    [[nodiscard]] bool take(std::vector<fork_event>& forks);

  private:
    eventlog::core::unique_fd socket_;
};

/// Appends the creation that a message of the connector reports, if it reports one. `to_boot_time`,
/// in nanoseconds, is added to its time. Ignores threads of process `self`.
void parse_process_event(std::span<const std::uint8_t> message, std::int64_t to_boot_time,
                         std::uint32_t self, std::vector<fork_event>& forks);

}  // namespace elog
