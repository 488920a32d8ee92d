// SPDX-License-Identifier: MIT
//
// Opens a file for writing where other users may have prepared its name.
#pragma once

#include <sys/types.h>

#include <string>

#include "platform/unique_fd.hpp"

namespace elog {

/// The mode of recordings and exports: events may contain what only their reader may know.
inline constexpr mode_t private_mode = 0600;

/// Whether several users may create files in the folder of that path: it is sticky or writable for
/// all.
[[nodiscard]] bool is_in_shared_folder(const std::string& path) noexcept;

/// Opens the file for writing, without blocking, and creates it if it is missing; with
/// `must_be_new` it fails with EEXIST if the name exists. In a shared folder, an existing file must
/// belong to this user and have no other name, and is no symbolic link: otherwise throws
/// user_error. Elsewhere a link is followed, for example to another disk. An empty descriptor, with
/// errno set, after another error. The content of an existing file stays.
[[nodiscard]] eventlog::core::unique_fd open_created_file(const std::string& path, bool must_be_new,
                                                          mode_t mode);

/// Throws user_error unless the open file belongs to this user and has one name. `path` is its name
/// in the message.
void check_is_own_file(int descriptor, const std::string& path);

}  // namespace elog
