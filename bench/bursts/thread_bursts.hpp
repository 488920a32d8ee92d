// SPDX-License-Identifier: MIT
//
// Bursts of our events by several threads at once, and by one of them alone.
#pragma once

#include <cstddef>

#include "answer.hpp"

namespace bench {

/// A burst by the thread of that number, 0 or 1, which has a CPU for itself; the other does
/// nothing. Answers with nanoseconds for each event. Throws failure with a single CPU.
[[nodiscard]] answer burst_alone(std::size_t number);

/// A burst by both at the same time; answers with a number for each of them.
[[nodiscard]] answer burst_by_both();

/// A burst by 64 threads on two CPUs, which take turns: each gives its CPU away several times.
/// Answers with nanoseconds of processor time for each event, without and with those of taking
/// turns. Throws failure with a single CPU.
[[nodiscard]] answer burst_by_many();

/// The same by one of these threads, as many as each of the CPUs sees of the others.
[[nodiscard]] answer burst_by_one();

}  // namespace bench
