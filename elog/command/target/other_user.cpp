// SPDX-License-Identifier: MIT
#include "target/other_user.hpp"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>
#include <system_error>

#include "cli/leading_option.hpp"
#include "cli/usage_error.hpp"
#include "target/privileges.hpp"

namespace elog {
namespace {

// The group of users without an account.
constexpr gid_t overflow_group = 65534;

std::optional<uid_t> as_number(std::string_view text) {
    uid_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [parsed, error] = std::from_chars(text.data(), end, number);
    // setresuid() reads the largest number as "unchanged".
    return error == std::errc() && parsed == end && number != static_cast<uid_t>(-1)
               ? std::optional(number)
               : std::nullopt;
}

/// The user may be in a group with a directory of its own: see eventlog(7).
std::vector<gid_t> groups_of(const passwd& account) {
    std::vector<gid_t> groups(64);
    int count = static_cast<int>(groups.size());
    while (::getgrouplist(account.pw_name, account.pw_gid, groups.data(), &count) < 0) {
        // The databases may return more groups each time, but a process has at most this many.
        if (groups.size() >= 65536) {
            throw user_error("The user {} is of too many groups.", account.pw_name);
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
        throw usage_error("There is no user '{}'. Use a name or number of: getent passwd", name);
    }
    return {*number, overflow_group, std::vector<gid_t>()};
}

void become(const std::string& name, const user& wanted) {
    switch (drop_privileges(wanted)) {
        case privilege_drop::done:
            return;
        case privilege_drop::not_permitted:
            throw user_error(
                "elog cannot run as user {} ({}). Run the command as root: sudo elog --user {} ...",
                name, std::strerror(errno), name);
        case privilege_drop::incomplete:
            break;
    }
    throw user_error(
        "Root's rights cannot be given up here, so nothing is read for user {}. Run it "
        "as: setpriv --reuid {} --clear-groups elog ...",
        name, wanted.number);
}

}  // namespace

void become_named_user(std::vector<std::string>& words) {
    const std::optional<std::string> name = take_leading_option(words, "--user");
    if (!name) {
        return;
    }
    if (name->empty()) {
        throw usage_error("--user needs the name or number of a user: elog --user alice list");
    }
    const user wanted = find_user(*name);
    if (wanted.number != ::geteuid()) {
        become(*name, wanted);
    }
}

}  // namespace elog
