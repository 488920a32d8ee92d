// SPDX-License-Identifier: MIT
//
// Running programs that do not give their events to their user, because they have more rights.
//
// Root finds them by the library that they have loaded. Another user may not look into them, and
// finds those that have published before they gained rights.
#include <fcntl.h>
#include <linux/nsfs.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include <fmt/format.h>

#include "base/proc_file.hpp"
#include "doctor/check.hpp"
#include "doctor/processes.hpp"
#include "platform/data_reader.hpp"
#include "text/escaped_text.hpp"

namespace elog::doctor {
namespace {

namespace core = eventlog::core;
using core::read_obstacle;

constexpr std::size_t user_map_max = std::size_t{64} << 10U;

struct hidden_process {
    std::string pid;
    std::string name;
    unsigned user = 0;
    read_obstacle obstacle = read_obstacle::none;
};

bool is_secure(const std::string& pid) {
    const std::string vector = read_if_possible(proc_path(pid, "auxv"), 4096).value_or("");
    unsigned long entry[2] = {};
    for (std::size_t at = 0; at + sizeof entry <= vector.size(); at += sizeof entry) {
        std::memcpy(&entry, vector.data() + at, sizeof entry);
        if (entry[0] == AT_SECURE) {
            return entry[1] != 0;
        }
    }
    return false;
}

bool is_in_namespace_of(const std::string& pid, unsigned user) {
    const core::unique_fd space(::open(proc_path(pid, "ns/user").c_str(), O_RDONLY | O_CLOEXEC));
    uid_t owner = 0;
    return space && ::ioctl(space.get(), NS_GET_OWNER_UID, &owner) == 0 && owner == user;
}

/// Whether the user is root of the process's user namespace, which is not the one of elog.
bool is_root_of_inner_namespace(const std::string& pid, unsigned user) {
    struct stat own {};
    struct stat other {};
    if (::stat("/proc/self/ns/user", &own) != 0 ||
        ::stat(proc_path(pid, "ns/user").c_str(), &other) != 0 || own.st_ino == other.st_ino) {
        return false;
    }
    // Lines of the first number inside, the first one outside, and how many there are.
    const std::string text = read_if_possible(proc_path(pid, "uid_map"), user_map_max).value_or("");
    std::string_view lines = text;
    while (!lines.empty()) {
        const std::vector<unsigned> numbers = status_numbers(take_until(lines, '\n'), "");
        if (numbers.size() == 3 && numbers[0] == 0) {
            return numbers[1] == user;
        }
    }
    return false;
}

read_obstacle find_obstacle_for_user(const std::string& pid, const std::string& status,
                                     const std::vector<unsigned>& users) {
    const std::vector<unsigned> groups = status_numbers(status, "Gid:");
    const auto differ = [](const std::vector<unsigned>& ids) {
        return ids.size() != 4 || ids[0] != ids[1] || ids[2] != ids[1];
    };
    if (is_secure(pid)) {
        return read_obstacle::program;
    }
    if (differ(users)) {
        return read_obstacle::user_ids;
    }
    if (differ(groups)) {
        return read_obstacle::group_ids;
    }
    const bool has_capabilities =
        status_value(status, "CapPrm:").find_first_not_of("0 \t") != std::string_view::npos;
    return has_capabilities && !is_in_namespace_of(pid, users[1]) ? read_obstacle::capabilities
                                                                  : read_obstacle::none;
}

/// As core::find_obstacle in that process for its user. The kernel gives the files of a process
/// that may not be dumped to root; its folder stays the user's.
hidden_process examine(const std::string& pid) {
    hidden_process found{pid, {}, 0, read_obstacle::none};
    const std::string status =
        read_if_possible(proc_path(pid, "status"), process_status_max).value_or("");
    const std::vector<unsigned> users = status_numbers(status, "Uid:");
    struct stat maps {};
    if (users.size() != 4 || users[1] == 0 || ::stat(proc_path(pid, "maps").c_str(), &maps) != 0) {
        return found;
    }
    found.name = std::string(process_name(status));
    found.user = users[1];
    if (!is_root_of_inner_namespace(pid, found.user)) {
        found.obstacle = find_obstacle_for_user(pid, status, users);
    }
    if (found.obstacle == read_obstacle::none && maps.st_uid != found.user) {
        found.obstacle = read_obstacle::not_dumpable;
    }
    return found;
}

std::string list(const std::vector<hidden_process>& hidden) {
    fmt::memory_buffer text;
    for (std::size_t i = 0; i < std::min(hidden.size(), shown_programs_max); ++i) {
        append(text, i == 0 ? "" : "; ");
        append_visible(text, hidden[i].name);
        fmt::format_to(std::back_inserter(text), " ({}) from user {}: {}", hidden[i].pid,
                       hidden[i].user, core::describe_obstacle(hidden[i].obstacle));
    }
    if (hidden.size() > shown_programs_max) {
        fmt::format_to(std::back_inserter(text), "; and {} more",
                       hidden.size() - shown_programs_max);
    }
    return fmt::to_string(text);
}

}  // namespace

check_result check_hidden_processes(const machine_facts& machine) {
    publishers published = find_published(machine.directory);
    if (::geteuid() == 0) {
        // The members of a group may read the events of programs with capabilities.
        published.everywhere.merge(find_published(path_of_group()).everywhere);
        published.pids = find_unpublished(published);
    } else if (published.are_of_group) {
        return {};
    }
    std::vector<hidden_process> hidden;
    for (const std::string& pid : published.pids) {
        if (hidden_process each = examine(pid); each.obstacle != read_obstacle::none) {
            hidden.push_back(std::move(each));
        }
    }
    if (hidden.empty()) {
        return {};
    }
    return {{limited,
             fmt::format("Programs with more rights than their user give it no events: {}. See "
                         "Privileged programs in eventlog(7).",
                         list(hidden))},
            {}};
}

}  // namespace elog::doctor
