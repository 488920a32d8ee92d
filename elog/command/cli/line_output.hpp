// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "base/output.hpp"
#include "record/record_sink.hpp"

namespace elog {

/// Records on standard output as they come: lines of text, or JSON Lines. `asked_to_end`: see
/// write_all.
[[nodiscard]] std::unique_ptr<record_sink> make_line_sink(bool json, give_up asked_to_end);

}  // namespace elog
