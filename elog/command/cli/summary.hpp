// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "record/recording_summary.hpp"
#include "text/json_object.hpp"

namespace elog {

/// What is said of a recording beside its numbers.
struct summary_notes {
    std::optional<std::string> output{};    // the file, or a pattern of several
    std::optional<std::uint64_t> passed{};  // events that --where let pass, if there is one
    std::optional<std::uint64_t> kept{};    // the first of these, as --count asks, if it does
};

/// Tells on standard error what has been recorded, where, and what is missing and why.
void print_summary(const recording_summary& summary, const summary_notes& notes);

/// The same for programs, on standard output, as members of an object that may have others already;
/// elog-record(1) names them. What is missing and why is told all the same. That nobody reads it is
/// no reason to fail. Throws failure.
void print_summary_as_json(json_object object, const recording_summary& summary,
                           const summary_notes& notes);

}  // namespace elog
