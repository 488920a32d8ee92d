// SPDX-License-Identifier: MIT
//
// How what writes records is measured: in bursts that its buffers have room for, with pauses in
// which a listener catches up.
#pragma once

#include <chrono>
#include <cstdint>

namespace bench {

// A small part of what a listener's buffers of one CPU hold (four times 4 MiB), so that it may be
// late, seldom copies at the very time at which we measure, and is woken by one burst in sixteen.
inline constexpr std::uint64_t burst = 1U << 12U;
// elog looks at its buffers every 10 ms at least.
inline constexpr std::chrono::milliseconds pause{12};

/// Busy, not asleep: an application that emits in bursts computes in between, and a CPU that goes
/// to sleep forgets more than ours.
inline void compute_for(std::chrono::nanoseconds duration) {
    const auto end = std::chrono::steady_clock::now() + duration;
    while (std::chrono::steady_clock::now() < end) {
    }
}

}  // namespace bench
