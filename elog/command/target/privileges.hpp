// SPDX-License-Identifier: MIT
//
// A permanent change to another user.
#pragma once

#include <sys/types.h>

#include <optional>
#include <vector>

namespace elog {

struct user {
    uid_t number = 0;
    gid_t group = 0;
    std::optional<std::vector<gid_t>>
        groups;  // complete; nothing: keeps the groups of this process
};

enum class privilege_drop {
    done,
    not_permitted,  // see errno; the process has to end if it was root's
    incomplete,     // the same, and some IDs may have changed
};

/// Changes this process to that user permanently: user, groups and capabilities, and programs that
/// it runs gain no privileges. The user cannot trace this process, which may have descriptors of
/// root. To be called before there are threads.
[[nodiscard]] privilege_drop drop_privileges(const user& wanted) noexcept;

}  // namespace elog
