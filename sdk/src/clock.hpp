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

/// A counter that has gone on by `ticks_of_a_moment` some milliseconds later at the latest: the
/// cheapest way to find out whether it is time. Another CPU's may be anywhere. Async-signal-safe.
[[gnu::always_inline]] inline std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    std::uint64_t count = 0;
    asm volatile("mrs %[count], cntvct_el0" : [count] "=r"(count));
    return count;
#else
    return coarse_now();
#endif
}
#if defined(__x86_64__)
inline constexpr std::uint64_t ticks_of_a_moment = std::uint64_t{1} << 22U;  // of GHz
#elif defined(__aarch64__)
inline constexpr std::uint64_t ticks_of_a_moment = std::uint64_t{1} << 16U;  // of 24 MHz to 1 GHz
#else
inline constexpr std::uint64_t ticks_of_a_moment = 1;
#endif

/// The same instant on that clock and on the two that people use.
[[nodiscard]] eventlog_clock_pair read_clock_pair(std::uint32_t clock) noexcept;

}  // namespace eventlog::core
