// SPDX-License-Identifier: MIT
//
// The clocks of a region's records: selection, reading, and samples that relate them to each other.
// CLOCK_MONOTONIC is that of the machine in all of them: see platform/time_namespace.hpp.
#pragma once

#include <linux/eventlog.h>

#include <cstdint>
#include <string_view>

namespace eventlog::core {

/// The value of EVENTLOG_TSC. `invalid` has the effect of `automatic`.
enum class tsc_choice { automatic, on, off, invalid };

[[nodiscard]] tsc_choice parse_tsc_choice(std::string_view value) noexcept;

/// From the environment; `automatic` if it is unset, or if the program is setuid or the like.
[[nodiscard]] tsc_choice configured_tsc_choice() noexcept;

/// The facts that decide whether the processor's counter is used as a clock.
struct tsc_properties {
    bool is_readable = false;   // it exists and user space may read it
    bool is_invariant = false;  // the processor guarantees a constant rate in all its states
    bool is_trusted = false;    // the kernel lists it as a clock source: the same on all CPUs
};

[[nodiscard]] tsc_properties probe_tsc() noexcept;

/// Whether the kernel's list of clock sources, separated by white space, contains this processor's
/// counter.
[[nodiscard]] bool lists_tsc(std::string_view clock_sources) noexcept;

/// `on` requires only a readable counter; the default requires all facts.
[[nodiscard]] constexpr eventlog_clock select_clock(tsc_choice choice,
                                                    const tsc_properties& facts) noexcept {
    const bool is_good = facts.is_invariant && facts.is_trusted;
    const bool is_taken = choice != tsc_choice::off && (is_good || choice == tsc_choice::on);
    return facts.is_readable && is_taken ? EVENTLOG_CLOCK_TSC : EVENTLOG_CLOCK_MONOTONIC;
}

/// The clock of new subscriptions: the cheapest that is equal on all CPUs and never stops, unless
/// EVENTLOG_TSC decides otherwise.
[[nodiscard]] eventlog_clock best_clock() noexcept;

/// Reads that clock; with custom_clock_bit the program's custom clock. Async-signal-safe.
[[nodiscard]] std::uint64_t read_clock(std::uint32_t clock) noexcept;

/// As read_clock, but not reordered before earlier instructions. Without the fence a processor
/// reads the time stamp counter while it still waits for a lock.
[[nodiscard]] std::uint64_t read_clock_ordered(std::uint32_t clock) noexcept;

/// CLOCK_MONOTONIC in nanoseconds, some milliseconds late: cheap, for deadlines. Async-signal-safe.
[[nodiscard]] std::uint64_t coarse_monotonic_now() noexcept;

/// A counter that advances by `descriptor_check_ticks` within some milliseconds: the cheapest check
/// for an elapsed interval. CPUs may disagree on its value. Async-signal-safe.
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

/// Consecutive readings: a clock, CLOCK_MONOTONIC, CLOCK_REALTIME, and the first clock again.
struct clock_readings {
    std::uint64_t before = 0;
    std::uint64_t monotonic = 0;
    std::uint64_t realtime = 0;
    std::uint64_t after = 0;
};

/// Replaces `best` if the next readings took less time than `shortest`: they were not interrupted.
/// The sample's first clock is the middle of its two readings.
void keep_less_interrupted(const clock_readings& next, std::uint64_t& shortest,
                           eventlog_clock_sample& best) noexcept;

/// A sample of that clock, CLOCK_MONOTONIC and CLOCK_REALTIME at the same instant.
[[nodiscard]] eventlog_clock_sample read_clock_sample(std::uint32_t clock) noexcept;

}  // namespace eventlog::core
