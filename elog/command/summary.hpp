// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "recording.hpp"

namespace elog {

/// Tells on standard error what has been recorded, where, and what is missing and why.
void print_summary(const recording_summary& summary, const std::optional<std::string>& output);

}  // namespace elog
