// SPDX-License-Identifier: MIT
#include "target/privileges.hpp"

#include <grp.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace elog {
namespace {

bool has_capabilities() noexcept {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, 2> sets{};
    return ::syscall(SYS_capget, &header, sets.data()) != 0 ||
           std::any_of(sets.begin(), sets.end(), [](const __user_cap_data_struct& each) {
               return (each.effective | each.permitted | each.inheritable) != 0;
           });
}

/// Capabilities of this process are not passed to the programs of the other user.
bool drop_capabilities() noexcept {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    const std::array<__user_cap_data_struct, 2> none{};
    return ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0UL, 0UL, 0UL) == 0 &&
           ::syscall(SYS_capset, &header, none.data()) == 0 && !has_capabilities();
}

bool has_exactly(const user& wanted) noexcept {
    uid_t real_user = 0;
    uid_t effective_user = 0;
    uid_t saved_user = 0;
    gid_t real_group = 0;
    gid_t effective_group = 0;
    gid_t saved_group = 0;
    return ::getresuid(&real_user, &effective_user, &saved_user) == 0 &&
           ::getresgid(&real_group, &effective_group, &saved_group) == 0 &&
           real_user == wanted.number && effective_user == wanted.number &&
           saved_user == wanted.number && real_group == wanted.group &&
           effective_group == wanted.group && saved_group == wanted.group;
}

/// Leaves the session keyring, whose keys the other user must not have. A kernel without keyrings,
/// or a filter that forbids the call, leaves nothing to protect.
bool leave_keyring() noexcept {
    return ::syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr) >= 0 || errno == ENOSYS ||
           errno == EPERM;
}

}  // namespace

privilege_drop drop_privileges(const user& wanted) noexcept {
    if (!leave_keyring()) {
        return privilege_drop::incomplete;
    }
    if ((wanted.groups && ::setgroups(wanted.groups->size(), wanted.groups->data()) != 0) ||
        ::setresgid(wanted.group, wanted.group, wanted.group) != 0 ||
        ::setresuid(wanted.number, wanted.number, wanted.number) != 0) {
        return privilege_drop::not_permitted;
    }
    return drop_capabilities() && has_exactly(wanted) &&
                   ::prctl(PR_SET_NO_NEW_PRIVS, 1UL, 0UL, 0UL, 0UL) == 0 &&
                   ::prctl(PR_SET_DUMPABLE, 0UL, 0UL, 0UL, 0UL) == 0
               ? privilege_drop::done
               : privilege_drop::incomplete;
}

}  // namespace elog
