// SPDX-License-Identifier: MIT
//
// Bursts that fit into the buffers, with pauses in which a listener catches up.
#pragma once

#include <chrono>
#include <cstdint>

namespace bench {

// A small part of a listener's buffers of one CPU (four times 4 MiB): so the listener may be late,
// rarely copies during a measurement, and is woken by one burst in 21.
inline constexpr std::uint64_t burst = 1U << 12U;
// elog reads its buffers at least every 10 ms.
inline constexpr std::chrono::milliseconds pause{12};

/// Computes instead of sleeping, as an application that emits in bursts does. A CPU that sleeps
/// loses more than eventlog's caches.
inline void compute_for(std::chrono::nanoseconds duration) {
    const auto end = std::chrono::steady_clock::now() + duration;
    while (std::chrono::steady_clock::now() < end) {
    }
}

}  // namespace bench
