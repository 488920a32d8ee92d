// SPDX-License-Identifier: MIT
#include "other_user.hpp"

#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>
#include <system_error>

#include "usage_failure.hpp"

namespace elog {
namespace {

// The group of those who have no account to name theirs.
constexpr gid_t group_of_nobody = 65534;

struct user {
    uid_t number = 0;
    gid_t group = group_of_nobody;
    std::vector<gid_t> groups;  // all of them
};

std::optional<uid_t> as_number(std::string_view text) {
    uid_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [parsed, error] = std::from_chars(text.data(), end, number);
    // The largest means "unchanged" where users are changed.
    return error == std::errc() && parsed == end && number != static_cast<uid_t>(-1)
               ? std::optional(number)
               : std::nullopt;
}

/// The user may be of a group that has a directory of its own: see eventlog(7).
std::vector<gid_t> groups_of(const passwd& account) {
    std::vector<gid_t> groups(64);
    int count = static_cast<int>(groups.size());
    while (::getgrouplist(account.pw_name, account.pw_gid, groups.data(), &count) < 0) {
        // Databases may answer with more each time, but no process can have more than this.
        if (groups.size() >= 65536) {
            throw failure("The user {} is of too many groups.", account.pw_name);
        }
        groups.resize(std::max(static_cast<std::size_t>(count), 2 * groups.size()));
        count = static_cast<int>(groups.size());
    }
    groups.resize(static_cast<std::size_t>(count));
    return groups;
}

user find_user(const std::string& name) {
    const passwd* account = ::getpwnam(name.c_str());
    const std::optional<uid_t> number = as_number(name);
    if (account == nullptr && number) {
        account = ::getpwuid(*number);
    }
    if (account != nullptr) {
        return {account->pw_uid, account->pw_gid, groups_of(*account)};
    }
    if (!number) {
        throw usage_failure("There is no user '{}'. Take a name or number of: getent passwd", name);
    }
    return {*number, group_of_nobody, {}};
}

bool has_capabilities() {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, 2> sets{};
    return ::syscall(SYS_capget, &header, sets.data()) != 0 ||
           std::any_of(sets.begin(), sets.end(), [](const __user_cap_data_struct& each) {
               return (each.effective | each.permitted | each.inheritable) != 0;
           });
}

/// What this process may do by itself, the program that a user put in its way must not.
bool drop_capabilities() {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    const std::array<__user_cap_data_struct, 2> none{};
    return ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0UL, 0UL, 0UL) == 0 &&
           ::syscall(SYS_capset, &header, none.data()) == 0 && !has_capabilities();
}

bool is_entirely(const user& wanted) {
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

void become(const std::string& name, const user& wanted) {
    if (::setgroups(wanted.groups.size(), wanted.groups.data()) != 0 ||
        ::setresgid(wanted.group, wanted.group, wanted.group) != 0 ||
        ::setresuid(wanted.number, wanted.number, wanted.number) != 0) {
        throw failure("What user {} runs cannot be seen from here ({}). Run it as root: sudo elog "
                      "--user {} ...",
                      name, std::strerror(errno), name);
    }
    // Nor does this process become the user's to trace: it may have descriptors of root's.
    if (!drop_capabilities() || !is_entirely(wanted) ||
        ::prctl(PR_SET_NO_NEW_PRIVS, 1UL, 0UL, 0UL, 0UL) != 0 ||
        ::prctl(PR_SET_DUMPABLE, 0UL, 0UL, 0UL, 0UL) != 0) {
        throw failure("Root's rights cannot be given up here, so nothing is read for user {}. Run "
                      "it as: setpriv --reuid {} --clear-groups elog ...",
                      name, wanted.number);
    }
}

}  // namespace

void become_named_user(std::vector<std::string>& words) {
    constexpr std::string_view option = "--user";
    if (words.empty() || words.front().compare(0, option.size(), option) != 0) {
        return;
    }
    std::string name;
    auto behind = words.begin() + 1;
    if (words.front().size() > option.size()) {
        if (words.front()[option.size()] != '=') {
            return;  // what no option is
        }
        name = words.front().substr(option.size() + 1);
    } else if (behind != words.end()) {
        name = *behind++;
    }
    if (name.empty()) {
        throw usage_failure("--user takes the name or number of a user: elog --user alice list");
    }
    const user wanted = find_user(name);
    if (wanted.number != ::geteuid()) {
        become(name, wanted);
    }
    words.erase(words.begin(), behind);
}

}  // namespace elog
