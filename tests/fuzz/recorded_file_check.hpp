// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "fuzz_target.hpp"

namespace eventlog::test {

/// Imports bytes as a recording of perf or trace-cmd. Ends the process unless they are rejected or
/// the result is a recording without faults.
void check_recorded_file(const std::uint8_t* data, std::size_t size);

}  // namespace eventlog::test
