// SPDX-License-Identifier: MIT
//
// The clock of a region's records.
#pragma once

#include <linux/eventlog.h>

#include <cstdint>

namespace eventlog::core {

/// Whether EVENTLOG_TSC=off forbids subscriptions to take the processor's counter.
[[nodiscard]] bool is_counter_forbidden() noexcept;

/// The cheapest clock that is the same on all CPUs and never stands still.
[[nodiscard]] eventlog_clock best_clock() noexcept;

/// That clock now; with own_clock_bit the program's own. Async-signal-safe.
[[nodiscard]] std::uint64_t read_clock(std::uint32_t clock) noexcept;

/// The same, not read before anything that stands before it in the program. Without that a
/// processor reads the time stamp counter while it still waits for a lock.
[[nodiscard]] std::uint64_t read_clock_in_order(std::uint32_t clock) noexcept;

/// CLOCK_MONOTONIC in nanoseconds, some milliseconds late: cheap, for deadlines. Async-signal-safe.
[[nodiscard]] std::uint64_t coarse_now() noexcept;

/// The same instant on that clock and on the two that people use.
[[nodiscard]] eventlog_clock_pair read_clock_pair(std::uint32_t clock) noexcept;

}  // namespace eventlog::core
