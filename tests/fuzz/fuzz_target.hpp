// SPDX-License-Identifier: MIT
//
// The function that libFuzzer, or replay.cpp instead of it, calls with each input.
#pragma once

#include <cstddef>
#include <cstdint>

/// Returns 0; ends the process if a check fails.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
