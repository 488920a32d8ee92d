// SPDX-License-Identifier: MIT
#pragma once

namespace elog {

/// Says to root which other users have a directory for their programs, and how to look there. Only
/// their owners are looked at: nothing in them is opened. To anybody else it says nothing.
void print_other_directories();

}  // namespace elog
