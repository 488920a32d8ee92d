// SPDX-License-Identifier: MIT
//
// The filter of a subscription in shared memory, with the sampling of its reader: the text of
// filter.hpp of the sdk, and among the rules
//
//     %N     the reader keeps every Nth event of the rule before this entry
//     <N     the reader keeps at most N events in a second, of all rules together
//
// Applications ignore these entries: they write all events. A subscription without sampling has
// none.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schema/patterns.hpp"
#include "schema/sampling.hpp"

namespace elog {

/// The rules, sampling and processes. Throws user_error if they are too long together.
[[nodiscard]] std::string pack_filter(const event_patterns& patterns,
                                      const sampling_options& sampling);

struct stored_filter {
    std::vector<std::string> rules;
    std::vector<std::string> processes;  // "=4242", "~nginx*"
    sampling_options sampling{};         // an entry of `every` for each rule
};

/// Any process of the user may have written `filter`: entries that are not valid are left out.
[[nodiscard]] stored_filter unpack_filter(std::string_view filter);

/// The patterns of the rules, for a record_sampler; sampling.every has their rates.
[[nodiscard]] event_patterns patterns_of(const stored_filter& filter,
                                         std::span<const std::uint64_t> sessions);

/// The rules as a user writes them: "shop:order_* 1/100".
[[nodiscard]] std::vector<std::string> sampled_rules(const stored_filter& filter);

}  // namespace elog
