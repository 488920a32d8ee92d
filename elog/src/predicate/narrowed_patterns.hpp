// SPDX-License-Identifier: MIT
//
// What of a predicate programs can decide before they emit: which levels, events, processes and
// sessions can match it at all. That becomes narrower patterns; the predicate is asked all the
// same, of what still comes.
#pragma once

#include <optional>
#include <string>

#include "predicate/predicate.hpp"
#include "schema/patterns.hpp"

namespace elog {

struct narrowed_patterns {
    event_patterns patterns;
    std::string names;  // of what has made them narrower: "level, event"
};

/// All events that the patterns want and the predicate can match are wanted by what is returned,
/// and no event that the patterns do not want. nullopt: the predicate says nothing that patterns
/// could.
[[nodiscard]] std::optional<narrowed_patterns> narrow(const event_patterns& patterns,
                                                      const predicate& wanted);

/// Whether it asks for nothing but what every event has, so that no event need be known to see
/// whether its names are right.
[[nodiscard]] bool uses_only_built_ins(const predicate& wanted);

}  // namespace elog
