// SPDX-License-Identifier: MIT
//
// The function that libFuzzer, or replay.cpp instead of it, calls with each input, and its check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

/// Returns 0; ends the process if a check fails.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

/// Ends the process unless it holds, in all builds.
inline void check(bool holds) {
    if (!holds) {
        std::abort();
    }
}
