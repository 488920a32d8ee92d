// SPDX-License-Identifier: MIT
//
// Definitions in a separate file, which callers cannot see at compile time.
#include "events.hpp"

#include <benchmark/benchmark.h>

namespace bench {

alignas(64) constinit std::atomic<std::uint32_t> branch_word{0};

void take_branch(std::uint64_t sequence, std::uint32_t bytes, std::uint32_t window,
                 std::string_view reason) noexcept {
    benchmark::DoNotOptimize(sequence);
    benchmark::DoNotOptimize(bytes);
    benchmark::DoNotOptimize(window);
    benchmark::DoNotOptimize(reason);
}

std::string_view opaque_reason() noexcept {
    return "lost_segment";
}

}  // namespace bench
