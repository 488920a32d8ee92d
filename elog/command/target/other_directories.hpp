// SPDX-License-Identifier: MIT
//
// A hint for root about directories of other users.
#pragma once

namespace elog {

/// Informs root on standard error which other users have a directory, and how to list their
/// programs. Only the owners of these directories are read; nothing in them is opened. Does nothing
/// for other users.
void print_other_directories();

}  // namespace elog
