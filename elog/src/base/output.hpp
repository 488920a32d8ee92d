// SPDX-License-Identifier: MIT
//
// Writing to a descriptor whose reader may be slow, or gone.
#pragma once

#include <functional>
#include <string_view>

namespace elog {

/// The reader of our output has gone (EPIPE): no failure, but there is no more to do.
struct output_closed {};

/// Asked while the output takes nothing: whether to wait no longer.
using abort_check = std::function<bool()>;

/// Writes all of it, and waits for a descriptor that would not. Throws output_closed or failure;
/// the latter also if the output takes nothing for a second although `should_abort` says that it is
/// time to end.
void write_all(int descriptor, std::string_view text, const abort_check& should_abort = {});

}  // namespace elog
