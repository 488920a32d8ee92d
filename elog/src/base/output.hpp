// SPDX-License-Identifier: MIT
//
// Writes data to a descriptor whose reader may be slow or closed.
#pragma once

#include <functional>
#include <string_view>

namespace elog {

/// Thrown when the reader has closed the output (EPIPE). Not an error: the command ends.
struct output_closed {};

/// Called while the output blocks. Returns true once the command should end.
using abort_check = std::function<bool()>;

/// Writes all of it; waits while a descriptor accepts nothing. Throws output_closed, or
/// user_error if writing fails or the output accepts nothing during one second in which
/// `should_abort` returns true.
void write_all(int descriptor, std::string_view text, const abort_check& should_abort = {});

}  // namespace elog
