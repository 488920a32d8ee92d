// SPDX-License-Identifier: MIT
#include "other_directories.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "tell.hpp"

namespace elog {
namespace {

// What a line of text still shows; the others are counted.
constexpr std::size_t users_shown = 16;

/// Whether the path is a directory, by itself and no link, of the user that its name says.
bool is_of_user(const std::filesystem::path& path, uid_t user) {
    struct stat status {};
    return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == user;
}

std::vector<uid_t> find_other_users() {
    constexpr std::string_view prefix = "eventlog-";
    std::vector<uid_t> users;
    std::error_code error;
    for (std::filesystem::directory_iterator each("/dev/shm", error), end; !error && each != end;
         each.increment(error)) {
        const std::string name = each->path().filename().string();
        if (name.compare(0, prefix.size(), prefix) != 0) {
            continue;
        }
        uid_t user = 0;
        const char* const last = name.data() + name.size();
        const auto [parsed, wrong] = std::from_chars(name.data() + prefix.size(), last, user);
        if (wrong == std::errc() && parsed == last && user != ::geteuid() &&
            is_of_user(each->path(), user)) {
            users.push_back(user);
        }
    }
    std::sort(users.begin(), users.end());
    return users;
}

}  // namespace

void tell_other_directories() {
    // Who names a directory asks about that one.
    if (::geteuid() != 0 || std::getenv("EVENTLOG_DIR") != nullptr) {
        return;
    }
    const std::vector<uid_t> users = find_other_users();
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
    tell("Others have had programs here, too: users {}. See theirs with: elog --user {} list",
         names, users.front());
}

}  // namespace elog
