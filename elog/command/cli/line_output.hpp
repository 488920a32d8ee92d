// SPDX-License-Identifier: MIT
//
// Events as lines on standard output.
#pragma once

#include <memory>

#include "base/output.hpp"
#include "record/record_sink.hpp"

namespace elog {

/// A sink that writes records to standard output, as lines of text or as JSON Lines.
/// `should_abort`: see write_all.
[[nodiscard]] std::unique_ptr<record_sink> make_line_sink(bool json, abort_check should_abort);

}  // namespace elog
