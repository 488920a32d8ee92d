// SPDX-License-Identifier: MIT
//
// The option --user USER: root runs elog as another user.
#pragma once

#include <string>
#include <vector>

namespace elog {

/// Removes "--user USER" from the front of the words, if it is there, and changes this process to
/// that user permanently: user, groups and capabilities, and programs that it runs gain no
/// privileges. So a process that opens hostile files of the user has no more rights than the user.
/// To be called before there are threads and before anything is opened. Throws usage_error if the
/// user is missing or unknown, and user_error if the change is not permitted or incomplete.
void become_named_user(std::vector<std::string>& words);

}  // namespace elog
