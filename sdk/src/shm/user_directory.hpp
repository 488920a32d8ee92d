// SPDX-License-Identifier: MIT
//
// The directory of a user in /dev/shm, where any user may take the name first.
#pragma once

#include <sys/types.h>

#include <array>

namespace eventlog::core {

/// The number of the user outside of this user namespace; the same number in the first one, and if
/// it has none. `unshare --map-root-user` makes an ordinary user root: its programs must neither
/// take the name of root's directory nor miss the user's elog.
[[nodiscard]] uid_t outer_user(uid_t user) noexcept;

/// The same with the text of /proc/self/uid_map, which ends with NUL.
[[nodiscard]] uid_t outer_user_in(const char* map, uid_t user) noexcept;

/// Whether this user is the root of the machine. Also true where /proc is unreadable.
[[nodiscard]] bool is_root_of_machine(uid_t user) noexcept;

using user_directory_name = std::array<char, 48>;
/// By the number outside of this user namespace.
[[nodiscard]] user_directory_name user_directory_of(uid_t user) noexcept;

/// By the number inside. Below two namespaces that map root, the user seems to be root outside as
/// well: then the name has the number of the namespace, so that it is never that of root's
/// directory. Programs and elog in that namespace share it.
[[nodiscard]] user_directory_name find_user_directory(uid_t user) noexcept;

/// For root: renames what another user has made under the name of root's directory, if `path` is
/// that, so that root can make its own. Programs that have it open keep it. Returns whether the
/// name is free now.
[[nodiscard]] bool move_foreign_directory(const char* path) noexcept;

}  // namespace eventlog::core
