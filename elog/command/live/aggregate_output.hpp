// SPDX-License-Identifier: MIT
//
// What commands that aggregate print on a terminal.
#pragma once

#include "aggregate/aggregate_report.hpp"
#include "record/recording_summary.hpp"

namespace elog {

/// For standard output: its width, and whether it shows block characters.
[[nodiscard]] report_style report_style_for_output();

/// Reports the events that a live recording has lost: they are missing in the numbers.
void report_losses(const recording_summary& summary);

}  // namespace elog
