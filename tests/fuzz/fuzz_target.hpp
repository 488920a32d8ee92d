// SPDX-License-Identifier: MIT
//
// What libFuzzer, or replay.cpp in its place, calls with one input after the other.
#pragma once

#include <cstddef>
#include <cstdint>

/// Returns 0; ends the process when something is wrong.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
