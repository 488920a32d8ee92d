// SPDX-License-Identifier: MIT
//
// Counts of the events that a recording kept and of those that it omitted on request. Omitted
// events are not lost.
//
// kept + by_sampling + by_rate is the number of events that passed the selection.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/saturating.hpp"

namespace elog {

/// One event of all processes with that provider.
struct sampled_event {
    std::string provider;
    std::string event;
    std::uint64_t every = 1;  // the sampling rate is 1/every
    std::uint64_t kept = 0;
    std::uint64_t by_sampling = 0;
    std::uint64_t by_rate = 0;  // omitted by the limit of events per second

    [[nodiscard]] std::uint64_t omitted() const noexcept {
        std::uint64_t sum = by_sampling;
        add_saturating(sum, by_rate);
        return sum;
    }
};

struct sampling_report {
    std::uint64_t max_rate = 0;  // 0: no limit
    std::uint64_t kept = 0;
    std::uint64_t by_sampling = 0;
    std::uint64_t by_rate = 0;
    std::vector<sampled_event> events{};  // that occurred, ordered by provider, event and rate

    [[nodiscard]] std::uint64_t omitted() const noexcept {
        std::uint64_t sum = by_sampling;
        add_saturating(sum, by_rate);
        return sum;
    }
};

}  // namespace elog
