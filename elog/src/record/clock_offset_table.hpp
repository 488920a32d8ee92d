// SPDX-License-Identifier: MIT
//
// Reads the offsets of CLOCK_BOOTTIME and CLOCK_TAI to CLOCK_MONOTONIC and CLOCK_REALTIME. They
// are those of the machine, whatever the time namespace, and change only when the machine has
// slept, or when the kernel learns of a leap second.
#pragma once

#include <cstdint>

#include "record/clock_converter.hpp"

namespace elog {

/// The present offsets; `clock` is the present time on the region's clock.
[[nodiscard]] clock_offsets read_clock_offsets(std::uint64_t clock) noexcept;

/// Whether the offsets differ by more than the precision of reading them.
[[nodiscard]] bool offsets_changed(const clock_offsets& before, const clock_offsets& now) noexcept;

}  // namespace elog
