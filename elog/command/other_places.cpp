// SPDX-License-Identifier: MIT
#include "other_places.hpp"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "shared_memory_place.hpp"

namespace elog {
namespace {

// As many as anybody reads through, and none of them may take long: see place_runner.hpp.
constexpr std::size_t places_max = 256;

/// The number that a name ends in, behind `prefix`; nothing if it is none.
template <class Number>
std::optional<Number> number_behind(std::string_view name, std::string_view prefix) {
    if (name.substr(0, prefix.size()) != prefix) {
        return std::nullopt;
    }
    Number number = 0;
    const char* const end = name.data() + name.size();
    const auto [parsed, wrong] = std::from_chars(name.data() + prefix.size(), end, number);
    return wrong == std::errc() && parsed == end ? std::optional(number) : std::nullopt;
}

/// Calls `take` with each name in a directory; nothing if it cannot be read.
template <class Take>
void for_each_name(const char* directory, const Take& take) {
    std::error_code error;
    for (std::filesystem::directory_iterator each(directory, error), end; !error && each != end;
         each.increment(error)) {
        take(each->path().filename().string());
    }
}

/// Whether the path is a directory, by itself and no link, of the user that its name says.
bool is_of_user(const std::string& path, uid_t user) {
    struct stat status {};
    return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == user;
}

std::string name_of_user(uid_t user) {
    const passwd* const account = ::getpwuid(user);
    return account == nullptr ? fmt::format("user {}", user)
                              : fmt::format("user {} ({})", user, account->pw_name);
}

/// The processes that there are, by number.
std::vector<pid_t> all_processes() {
    std::vector<pid_t> numbers;
    for_each_name("/proc", [&](const std::string& name) {
        if (const std::optional<pid_t> number = number_behind<pid_t>(name, "")) {
            numbers.push_back(*number);
        }
    });
    std::sort(numbers.begin(), numbers.end());
    return numbers;
}

/// The first process of each place: that with which a container begins. But whoever has made the
/// container may be in it, too, and calls its processes by other numbers than they do.
std::vector<other_place> find_processes() {
    using key = std::tuple<std::string, std::string, uid_t>;
    const std::optional<shared_memory_place> own = find_shared_memory_place(::getpid());
    std::map<key, other_place> inside;
    std::map<key, other_place> found;
    for (const pid_t number : all_processes()) {
        std::optional<shared_memory_place> at = find_shared_memory_place(number);
        if (!own || !at || at->memory == own->memory) {
            continue;
        }
        (at->numbers == own->numbers ? found : inside)
            .try_emplace({std::move(at->memory), std::move(at->users), at->user},
                         other_place{at->user, number, std::move(at->process_name)});
    }
    for (auto& [at, place] : inside) {
        found.insert_or_assign(at, std::move(place));
    }
    std::vector<other_place> places;
    for (auto& [at, place] : found) {
        places.push_back(std::move(place));
    }
    std::sort(places.begin(), places.end(),
              [](const auto& a, const auto& b) { return a.process < b.process; });
    return places;
}

}  // namespace

std::vector<std::string> other_place::words() const {
    return process ? std::vector<std::string>{"--at", std::to_string(*process)}
                   : std::vector<std::string>{"--user", std::to_string(user)};
}

std::string other_place::title() const {
    return process
               ? fmt::format("process {} ({}) of {}", *process, process_name, name_of_user(user))
               : name_of_user(user);
}

std::vector<uid_t> find_other_users() {
    std::vector<uid_t> users;
    for_each_name("/dev/shm", [&](const std::string& name) {
        const std::optional<uid_t> user = number_behind<uid_t>(name, "eventlog-");
        if (user && *user != ::geteuid() && is_of_user("/dev/shm/" + name, *user)) {
            users.push_back(*user);
        }
    });
    std::sort(users.begin(), users.end());
    return users;
}

other_places find_other_places() {
    other_places found;
    // Only root becomes another user.
    if (::geteuid() == 0) {
        for (const uid_t user : find_other_users()) {
            found.places.push_back({user, std::nullopt, {}});
        }
    }
    for (other_place& place : find_processes()) {
        found.places.push_back(std::move(place));
    }
    if (found.places.size() > places_max) {
        found.left_out = found.places.size() - places_max;
        found.places.resize(places_max);
    }
    return found;
}

}  // namespace elog
