// SPDX-License-Identifier: MIT
#include "target/provider_locations.hpp"

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include <fmt/core.h>

#include "base/proc_file.hpp"
#include "base/shared_memory_domain.hpp"
#include "base/user_error.hpp"
#include "platform/unique_fd.hpp"
#include "shm/directory.hpp"
#include "shm/user_directory.hpp"
#include "target/container_target.hpp"
#include "target/other_user.hpp"
#include "target/privileges.hpp"

namespace elog {
namespace {

constexpr std::size_t places_max = 256;
constexpr const char* group_directory = "/run/eventlog";
// The user of files and processes whose owner is in no user namespace here.
constexpr uid_t overflow_user = 65534;

/// The number after `prefix`; nothing if the name has another form.
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

/// Calls `take` with each name in a directory; never if it cannot be read.
template <class Take>
void for_each_name(const char* directory, const Take& take) {
    std::error_code error;
    for (std::filesystem::directory_iterator each(directory, error), end; !error && each != end;
         each.increment(error)) {
        take(each->path().filename().string());
    }
}

std::string directory_of(uid_t user) {
    return eventlog::core::find_user_directory(user).data();
}

/// The owner of a directory with the name of the owner's; nothing for another one, and for a link.
std::optional<uid_t> owner_of_directory(const std::string& path) {
    struct stat status {};
    const bool is_directory = ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
    return is_directory && path == directory_of(status.st_uid) ? std::optional(status.st_uid)
                                                               : std::nullopt;
}

std::string name_of_user(uid_t user) {
    const passwd* const account = is_in_container() ? nullptr : ::getpwuid(user);
    return account == nullptr ? fmt::format("user {}", user)
                              : fmt::format("user {} ({})", user, account->pw_name);
}

/// All processes, sorted by number.
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

/// The real, effective, saved and file system users of a process; none if it has ended or is
/// hidden.
std::vector<unsigned> users_of_process(pid_t process) {
    const eventlog::core::unique_fd file(
        ::open(fmt::format("/proc/{}/status", process).c_str(), O_RDONLY | O_CLOEXEC));
    const std::optional<std::string> status = read_text(file, process_status_max);
    return status ? status_numbers(*status, "Uid:") : std::vector<unsigned>{};
}

/// The first process of each place, with which a container begins. A process of another pid
/// namespace than this one's is preferred: the process that created the container may be in that
/// place, too, and has other numbers for its processes.
std::vector<provider_location> find_processes(std::size_t& skipped) {
    using key = std::tuple<std::string, std::string, uid_t>;
    shared_memory_domains locations;
    const std::optional<shared_memory_domain> own = locations.of(::getpid());
    std::map<key, provider_location> inside;
    std::map<key, provider_location> found;
    for (const pid_t number : all_processes()) {
        std::optional<shared_memory_domain> at = locations.of(number);
        if (!own || !at || at->memory == own->memory) {
            continue;
        }
        (at->numbers == own->numbers ? found : inside)
            .try_emplace({std::move(at->memory), std::move(at->users), at->user},
                         provider_location{provider_location::kind::process, at->user, 0, number});
    }
    for (auto& [at, place] : inside) {
        found.insert_or_assign(at, std::move(place));
    }
    std::vector<provider_location> all;
    for (auto& [at, place] : found) {
        place.process_name = name_of_process(place.process);
        all.push_back(std::move(place));
    }
    std::sort(all.begin(), all.end(),
              [](const auto& a, const auto& b) { return a.process < b.process; });
    skipped += locations.left_out();
    return all;
}

/// Adds up to `places_max` locations of a kind, so that many of one kind do not displace those of
/// another.
void add(found_locations& found, std::vector<provider_location> locations) {
    const std::size_t count = std::min(locations.size(), places_max);
    found.skipped += locations.size() - count;
    found.locations.insert(
        found.locations.end(), std::make_move_iterator(locations.begin()),
        std::make_move_iterator(locations.begin() + static_cast<std::ptrdiff_t>(count)));
}

/// The directory that root has created for a group, of which root need not be a member.
void add_common_place(found_locations& found) {
    struct stat status {};
    if (::lstat(group_directory, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == 0 &&
        std::string_view(eventlog::core::current_directory().text.data()) != group_directory) {
        found.locations.push_back({provider_location::kind::common, overflow_user, status.st_gid});
    }
}

/// Members have created the contents: only a process with no more rights than a member opens them.
void become_member(gid_t group) {
    const elog::user wanted{overflow_user, group, std::vector<gid_t>{group}};
    if (drop_privileges(wanted) != privilege_drop::done) {
        throw user_error("Root's rights cannot be given up here, so nothing in {} is read.",
                         group_directory);
    }
}

}  // namespace

void provider_location::enter() const {
    // EVENTLOG_DIR of this process does not apply elsewhere.
    if (what != kind::here) {
        static_cast<void>(::unsetenv("EVENTLOG_DIR"));
    }
    switch (what) {
        case kind::here:
            break;
        case kind::common:
            become_member(group);
            break;
        case kind::user: {
            std::vector<std::string> words{"--user", std::to_string(user)};
            become_named_user(words);
            // The user's own directory, even if a group of the user has one.
            static_cast<void>(::setenv("EVENTLOG_DIR", directory_of(user).c_str(), 1));
            break;
        }
        case kind::process: {
            std::vector<std::string> words{"--at", std::to_string(process)};
            enter_named_process(words, false);
            break;
        }
    }
}

std::string provider_location::title() const {
    switch (what) {
        case kind::common:
            return group_directory;
        case kind::process:
            return fmt::format("process {} ({}) of {}", process, process_name, name_of_user(user));
        case kind::here:
        case kind::user:
            break;
    }
    return name_of_user(user);
}

std::string provider_location::list_command() const {
    switch (what) {
        case kind::here:
            break;
        case kind::common:
            return fmt::format("setpriv --reuid {} --regid {} --clear-groups elog list",
                               overflow_user, group);
        case kind::user:
            return fmt::format("elog --user {} list", user);
        case kind::process:
            return fmt::format("elog --at {} list", process);
    }
    return "elog list";
}

std::vector<uid_t> find_other_users() {
    std::vector<uid_t> users;
    for_each_name("/dev/shm", [&](const std::string& name) {
        if (!number_behind<uid_t>(name, "eventlog-")) {
            return;
        }
        const std::optional<uid_t> user = owner_of_directory("/dev/shm/" + name);
        if (user && *user != ::geteuid()) {
            users.push_back(*user);
        }
    });
    std::sort(users.begin(), users.end());
    return users;
}

std::vector<uid_t> find_active_users() {
    std::vector<uid_t> users = find_other_users();
    if (users.empty()) {
        return users;
    }
    std::set<uid_t> active;
    for (const pid_t process : all_processes()) {
        for (const uid_t user : users_of_process(process)) {
            active.insert(user);
        }
    }
    active.erase(::geteuid());
    // Some process of root always runs, so /proc hides the processes of others (hidepid), or this
    // is a container without them.
    if (!active.empty() || ::geteuid() == 0) {
        std::erase_if(users, [&](uid_t user) { return !active.contains(user); });
    }
    return users;
}

std::optional<gid_t> find_closed_group() {
    struct stat status {};
    const bool is_closed = ::lstat(group_directory, &status) == 0 && S_ISDIR(status.st_mode) &&
                           status.st_uid == 0 &&
                           ::faccessat(AT_FDCWD, group_directory, X_OK, AT_EACCESS) != 0;
    return is_closed ? std::optional(status.st_gid) : std::nullopt;
}

found_locations find_provider_locations() {
    found_locations found;
    found.locations.push_back({provider_location::kind::here, ::geteuid()});
    if (is_in_container()) {
        return found;  // entering other places looks up users, with modules of the container
    }
    // Only root may become another user.
    if (::geteuid() == 0) {
        add_common_place(found);
        std::vector<provider_location> users;
        for (const uid_t user : find_other_users()) {
            users.push_back({provider_location::kind::user, user});
        }
        add(found, std::move(users));
    }
    add(found, find_processes(found.skipped));
    return found;
}

}  // namespace elog
