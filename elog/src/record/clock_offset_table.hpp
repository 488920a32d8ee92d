// SPDX-License-Identifier: MIT
//
// CLOCK_BOOTTIME and CLOCK_TAI: what they say beside CLOCK_MONOTONIC and CLOCK_REALTIME changes
// only when the machine has slept, or is told of a leap second.
#pragma once

#include <cstdint>

#include "record/clock_converter.hpp"

namespace elog {

/// As they are now; `clock` is the time now on the region's clock.
[[nodiscard]] clock_offsets read_clock_offsets(std::uint64_t clock) noexcept;

/// By more than clocks can be read to.
[[nodiscard]] bool offsets_changed(const clock_offsets& before, const clock_offsets& now) noexcept;

}  // namespace elog
