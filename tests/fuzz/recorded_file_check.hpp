// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "fuzz_target.hpp"

namespace eventlog::test {

/// Reads bytes as a recording of perf's or trace-cmd's. What is made of them has to be a recording
/// without a fault. Ends the process if it is not.
void check_recorded_file(const std::uint8_t* data, std::size_t size);

}  // namespace eventlog::test
