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
using give_up = std::function<bool()>;

/// Writes all of it, and waits for a descriptor that would not. Throws output_closed or failure;
/// the latter also if the output takes nothing for a second although `asked_to_end` says that it is
/// time to end.
void write_all(int descriptor, std::string_view text, const give_up& asked_to_end = {});

}  // namespace elog
