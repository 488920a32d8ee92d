// SPDX-License-Identifier: MIT
//
// Events as lines on standard output.
#pragma once

#include <memory>

#include "base/output.hpp"
#include "output/text_options.hpp"
#include "record/record_sink.hpp"

namespace elog {

/// Options of text for standard output: dates if the events are not of today, colors on a terminal.
[[nodiscard]] text_options standard_output_options();

/// A sink that writes records to standard output, as lines of text or as JSON Lines.
/// `should_abort`: see write_all.
[[nodiscard]] std::unique_ptr<record_sink> make_line_sink(bool json, abort_check should_abort);

}  // namespace elog
