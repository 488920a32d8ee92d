// SPDX-License-Identifier: MIT
//
// Hints about programs of other users, which a list does not contain.
//
// A directory that a user has left, without a process of that user, is no reason for a hint.
#pragma once

namespace elog {

/// Informs root on standard error which other users have programs, and how to list them. For a list
/// that is empty or could not be read, because another user may have the program that root looks
/// for. Only the owners of these directories are read; nothing in them is opened. Does nothing for
/// other users.
void print_other_directories();

/// Informs any user but root on standard error how many other users have programs that this user
/// may not see.
void print_unreadable_directories();

}  // namespace elog
