// SPDX-License-Identifier: MIT
//
// elog --user USER: root takes part as another user.
#pragma once

#include <string>
#include <vector>

namespace elog {

/// Takes "--user USER" from the front of the words, if it stands there, and makes this process that
/// user's for good: its user, groups and capabilities, and no program that it runs gains any. So
/// whatever a hostile user has put into his directory, he has put it before a process that may do
/// no more than he. Call it before there are threads, and before anything is opened. Throws
/// usage_error if no user is named or there is no such user, and failure if this process may not
/// become one, or has not become one entirely.
void become_named_user(std::vector<std::string>& words);

}  // namespace elog
