// SPDX-License-Identifier: MIT
//
// Bursts of eventlog's events by several threads at once, and by one of them.
#pragma once

#include <cstddef>

#include "answer.hpp"

namespace bench {

/// A burst by thread 0 or 1, which has a CPU of its own, while the other one is idle. Returns
/// nanoseconds for each event. Throws failure with a single CPU.
[[nodiscard]] answer burst_alone(std::size_t number);

/// A burst by both at the same time. Returns a number for each.
[[nodiscard]] answer burst_by_both();

/// A burst by 64 threads on two CPUs, each of which yields its CPU several times. Returns
/// nanoseconds of processor time for each event, without and with the time of yielding. Throws
/// failure with a single CPU.
[[nodiscard]] answer burst_by_many();

/// The same by one thread, with as many events as each of the two CPUs has above.
[[nodiscard]] answer burst_by_one();

}  // namespace bench
