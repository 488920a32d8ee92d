// SPDX-License-Identifier: MIT
//
// The clock of a region's records.
#pragma once

#include <linux/eventlog.h>

#include <cstdint>
#include <span>
#include <string_view>

namespace eventlog::core {

/// The value of EVENTLOG_TSC. `invalid` has the effect of `automatic`.
enum class tsc_choice { automatic, on, off, invalid };

[[nodiscard]] tsc_choice parse_tsc_choice(std::string_view value) noexcept;

/// From the environment; `automatic` if it is unset, or the program is setuid or the like.
[[nodiscard]] tsc_choice configured_tsc_choice() noexcept;

/// What decides whether the processor's counter is a clock.
struct tsc_properties {
    bool is_readable = false;   // there is one, and programs may read it
    bool is_invariant = false;  // the processor promises a constant rate in all its states
    bool is_trusted = false;    // the kernel offers it as a clock source: the same on all CPUs
};

[[nodiscard]] tsc_properties probe_tsc() noexcept;

/// Whether a list of the kernel's, separated by white space, names the counter of this processor.
[[nodiscard]] bool lists_tsc(std::string_view clock_sources) noexcept;

/// `on` requires only that the counter can be read; the default requires all of the facts.
[[nodiscard]] constexpr eventlog_clock select_clock(tsc_choice choice,
                                                    const tsc_properties& facts) noexcept {
    const bool is_good = facts.is_invariant && facts.is_trusted;
    const bool is_taken = choice != tsc_choice::off && (is_good || choice == tsc_choice::on);
    return facts.is_readable && is_taken ? EVENTLOG_CLOCK_TSC : EVENTLOG_CLOCK_MONOTONIC;
}

/// The clock of new subscriptions: the cheapest that is the same on all CPUs and never stands
/// still, unless EVENTLOG_TSC decides otherwise.
[[nodiscard]] eventlog_clock best_clock() noexcept;

/// That clock now; with custom_clock_bit the program's own. Async-signal-safe.
[[nodiscard]] std::uint64_t read_clock(std::uint32_t clock) noexcept;

/// The same, not read before anything that stands before it in the program. Without that a
/// processor reads the time stamp counter while it still waits for a lock.
[[nodiscard]] std::uint64_t read_clock_ordered(std::uint32_t clock) noexcept;

/// CLOCK_MONOTONIC in nanoseconds, some milliseconds late: cheap, for deadlines. Async-signal-safe.
[[nodiscard]] std::uint64_t coarse_monotonic_now() noexcept;

/// A counter that has gone on by `descriptor_check_ticks` some milliseconds later at the latest:
/// the cheapest way to find out whether it is time. Another CPU's may be anywhere.
/// Async-signal-safe.
[[gnu::always_inline]] inline std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    std::uint64_t count = 0;
    asm volatile("mrs %[count], cntvct_el0" : [count] "=r"(count));
    return count;
#else
    return coarse_monotonic_now();
#endif
}
#if defined(__x86_64__)
inline constexpr std::uint64_t descriptor_check_ticks = std::uint64_t{1} << 22U;  // of GHz
#elif defined(__aarch64__)
inline constexpr std::uint64_t descriptor_check_ticks = std::uint64_t{1}
                                                        << 16U;  // of 24 MHz to 1 GHz
#else
inline constexpr std::uint64_t descriptor_check_ticks = 1;
#endif

/// Readings one behind the other: of a clock, of the two that people use, and of the first again.
struct clock_readings {
    std::uint64_t before = 0;
    std::uint64_t monotonic = 0;
    std::uint64_t realtime = 0;
    std::uint64_t after = 0;
};

/// Of several such readings, at least one, those that took least time: they were not interrupted.
/// The first clock's value is that half way between its two readings.
[[nodiscard]] eventlog_clock_sample least_interrupted_sample(
    std::span<const clock_readings> readings) noexcept;

/// The same instant on that clock and on the two that people use.
[[nodiscard]] eventlog_clock_sample read_clock_sample(std::uint32_t clock) noexcept;

}  // namespace eventlog::core
