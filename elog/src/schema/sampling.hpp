// SPDX-License-Identifier: MIT
//
// Events that a user wants to have omitted: the sampling rates of patterns, PATTERN 1/N, and the
// largest number of events in a second.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace elog {

inline constexpr std::uint64_t sampling_every_max = 1'000'000'000;
inline constexpr std::uint64_t max_rate_max = 1'000'000'000;  // events per second

struct sampled_pattern {
    std::string_view pattern;  // for event_patterns::add
    std::uint64_t every = 1;   // of that many events, the first one is kept
};

/// Splits "PATTERN" or "PATTERN 1/N"; does not check PATTERN. Throws user_error for a rate that is
/// not 1/N with N from 1 to sampling_every_max.
[[nodiscard]] sampled_pattern parse_sampled_pattern(std::string_view text);

struct sampling_options {
    std::vector<std::uint64_t> every{};  // by pattern; a pattern without an entry keeps all events
    std::uint64_t max_rate = 0;          // events per second, of all patterns together; 0: any

    [[nodiscard]] bool is_sampled() const noexcept {
        return std::any_of(every.begin(), every.end(), [](std::uint64_t each) { return each > 1; });
    }
    [[nodiscard]] bool omits_any() const noexcept { return max_rate != 0 || is_sampled(); }
};

}  // namespace elog
