// SPDX-License-Identifier: MIT
//
// The option --clock, which selects the clock of displayed times.
#pragma once

#include <optional>
#include <string>

#include "cli/command_line.hpp"
#include "record/display_clock.hpp"

namespace elog {

void add_clock_option(subcommand& command, std::optional<std::string>& clock);

/// Throws usage_error for an unknown clock.
[[nodiscard]] display_clock parse_clock(const std::optional<std::string>& clock);

}  // namespace elog
