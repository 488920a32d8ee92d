// SPDX-License-Identifier: MIT
#include "target/other_directories.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "target/provider_locations.hpp"
#include "terminal/diagnostics.hpp"

namespace elog {
namespace {

// Users named on a line; further ones are counted.
constexpr std::size_t users_shown = 16;

}  // namespace

void print_other_directories() {
    // EVENTLOG_DIR selects one directory, so others are irrelevant. Empty means not set.
    const char* named = std::getenv("EVENTLOG_DIR");
    if (::geteuid() != 0 || (named != nullptr && *named != '\0')) {
        return;
    }
    const std::vector<uid_t> users = find_active_users();
    if (users.empty()) {
        return;
    }
    std::string names;
    for (std::size_t index = 0; index < std::min(users.size(), users_shown); ++index) {
        names += fmt::format("{}{}", index == 0 ? "" : ", ", users[index]);
    }
    if (users.size() > users_shown) {
        names += fmt::format(" and {} more", users.size() - users_shown);
    }
    print_note("Other users have a directory for programs: {}. See theirs with: elog --user "
               "{} list, or all at once with: elog list --all",
               names, users.front());
}

void print_unreadable_directories() {
    if (::geteuid() == 0) {
        return;
    }
    if (const std::size_t count = find_active_users().size(); count != 0) {
        print_diagnostic("{} other user{} processes and a directory for their events, which only "
                         "they and root may read. See their programs with: sudo elog list --all",
                         count, count == 1 ? " has" : "s have");
    }
    if (const std::optional<gid_t> group = find_closed_group()) {
        print_diagnostic("The members of group {} share /run/eventlog, which only they and root "
                         "may read. See their programs with: sudo elog list --all",
                         *group);
    }
}

}  // namespace elog
