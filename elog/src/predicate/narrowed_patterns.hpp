// SPDX-License-Identifier: MIT
//
// Derives narrower subscription patterns from a predicate: the levels, events, processes and
// sessions that can match it, which programs test before they emit. The predicate is still
// evaluated for the records that arrive.
#pragma once

#include <optional>
#include <string>

#include "predicate/predicate.hpp"
#include "schema/patterns.hpp"

namespace elog {

struct narrowed_patterns {
    event_patterns patterns;
    std::string names;  // of what made them narrower: "level, event"
};

/// Every event that the patterns select and the predicate can match is selected by the result, and
/// no event that the patterns do not select. nullopt: the predicate has no condition that patterns
/// can express.
[[nodiscard]] std::optional<narrowed_patterns> narrow(const event_patterns& patterns,
                                                      const predicate& wanted);

/// Whether the predicate uses only names that every event has. Its names are then valid without any
/// known event.
[[nodiscard]] bool uses_only_built_ins(const predicate& wanted);

}  // namespace elog
