// SPDX-License-Identifier: MIT
//
// Becoming another user, for good.
#pragma once

#include <sys/types.h>

#include <optional>
#include <vector>

namespace elog {

struct user {
    uid_t number = 0;
    gid_t group = 0;
    std::optional<std::vector<gid_t>> groups;  // all of them; nothing: those that this process has
};

enum class privilege_drop {
    done,
    not_permitted,  // errno says why; this process has to end if it was root's
    incomplete,     // the same, and it may have become that user in part
};

/// Makes this process that user's for good: its user, groups and capabilities, and no program that
/// it runs gains any. Nor does it become that user's to trace: it may have descriptors of root's.
/// Call it before there are threads.
[[nodiscard]] privilege_drop drop_privileges(const user& wanted) noexcept;

}  // namespace elog
