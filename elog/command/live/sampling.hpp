// SPDX-License-Identifier: MIT
//
// Options that omit events on request: the rate 1/N of a pattern and --max-rate.
#pragma once

#include <linux/eventlog.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "memory/subscription.hpp"
#include "record/record_sampler.hpp"

namespace elog {

inline constexpr const char* max_rate_help =
    "Keep at most that many events a second: 500, 10k, 1M; count the others";

/// "500", "10k", "2.5M" events per second, from 1 to 1000000000. Throws usage_error.
[[nodiscard]] std::uint64_t parse_max_rate(std::string_view text);

/// Adds --max-rate to the sampling of the patterns. Throws usage_error for an invalid rate.
void add_max_rate(subscription_options& options, const std::optional<std::string>& max_rate);

/// nullptr if no event is to be omitted.
[[nodiscard]] std::unique_ptr<record_sampler> make_sampler(const subscription_options& options);
/// Of a flight recorder, with the rates that it was started with.
[[nodiscard]] std::unique_ptr<record_sampler> make_sampler(const eventlog_region& header);

/// The line of --explain; empty if no event is to be omitted.
[[nodiscard]] std::string explain_sampling(const subscription_options& options);

}  // namespace elog
