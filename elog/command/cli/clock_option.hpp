// SPDX-License-Identifier: MIT
//
// --clock: on which clock times are shown.
#pragma once

#include <optional>
#include <string>

#include "cli/command_line.hpp"
#include "record/display_clock.hpp"

namespace elog {

void add_clock_option(subcommand& command, std::optional<std::string>& clock);

/// Throws usage_error if there is no such clock.
[[nodiscard]] display_clock parse_clock(const std::optional<std::string>& clock);

}  // namespace elog
