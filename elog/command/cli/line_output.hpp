// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "base/output.hpp"
#include "record/record_sink.hpp"

namespace elog {

/// Records on standard output as they come: lines of text, or JSON Lines. `should_abort`: see
/// write_all.
[[nodiscard]] std::unique_ptr<record_sink> make_line_sink(bool json, abort_check should_abort);

}  // namespace elog
