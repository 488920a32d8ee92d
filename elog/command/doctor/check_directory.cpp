// SPDX-License-Identifier: MIT
//
// Checks of what producers and elog share: the directory, its memory, and flight recorders in it.
#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "discovery/running_subscriptions.hpp"
#include "doctor/check.hpp"

namespace elog::doctor {
namespace {

namespace core = eventlog::core;
namespace fs = std::filesystem;

/// The path as one word of a shell.
std::string quoted(const std::string& path) {
    std::string word = "'";
    for (const char c : path) {
        word += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return word + "'";
}

constexpr const char* directory_for_all = "/run/eventlog";
constexpr const char* group_folders[] = {"/run/eventlog/processes", "/run/eventlog/subscriptions"};
constexpr const char* usual_group = "tracing";

/// Whether root has created it for a group: the directory, or a folder in it.
bool is_group_directory(const struct stat& status, mode_t mode = 02750) {
    return S_ISDIR(status.st_mode) && status.st_uid == 0 && (status.st_mode & 07777U) == mode;
}

/// Whether both folders of the directory for all users belong to that group.
bool is_whole(gid_t group) {
    return std::all_of(std::begin(group_folders), std::end(group_folders), [&](const char* path) {
        struct stat status {};
        return ::lstat(path, &status) == 0 && is_group_directory(status, 02770) &&
               status.st_gid == group;
    });
}

std::string name_of_group(gid_t group) {
    const struct group* found = ::getgrgid(group);
    return found != nullptr ? std::string(found->gr_name) : std::to_string(group);
}

/// The command that opens a directory to a group, whether or not it exists.
std::string open_to_group(const std::string& path, const std::string& group) {
    const std::string folders = fmt::format("{0} {0}/processes {0}/subscriptions", quoted(path));
    return fmt::format("mkdir -p {0} && chown root:{1} {0} && chmod 2770 {0} && chmod 2750 {2}",
                       folders, group, quoted(path));
}

/// Adds the command that repairs an unusable directory.
void suggest_repair(finding& bad, const std::string& path) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) {
        return;
    }
    if (is_group_directory(status)) {
        bad.repair = open_to_group(path, name_of_group(status.st_gid));
        bad.as_root = true;
    } else if (!S_ISDIR(status.st_mode) || status.st_uid != ::geteuid()) {
        bad.repair = "rm -r " + quoted(path);
        bad.as_root = status.st_uid != ::geteuid();
    } else {
        bad.repair = "chmod -R go= " + quoted(path);
    }
}

finding examine_existing(const core::directory_path& path) {
    core::directory where;
    core::error_text error;
    const char* shown = path.text.data();
    struct stat status {};
    if (where.open(path, core::if_missing::fail, error)) {
        const bool is_common = ::lstat(shown, &status) == 0 && is_group_directory(status);
        return {
            good,
            is_common
                ? fmt::format("{} is shared by programs and elog of all members of the group {}.",
                              shown, name_of_group(status.st_gid))
                : fmt::format("{} is shared by your programs and elog, and yours alone.", shown)};
    }
    const std::string processes = std::string(shown) + "/processes";
    if (::lstat(shown, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == ::geteuid() &&
        (status.st_mode & 0777U) == 0700U && ::lstat(processes.c_str(), &status) != 0 &&
        errno == ENOENT) {
        return {good, fmt::format("{} is yours alone, and empty.", shown)};
    }
    if (core::explain_other_use(path, error)) {
        return {missing, error.text().c_str(), "unset EVENTLOG_DIR"};
    }
    finding bad{missing, error.text().c_str()};
    suggest_repair(bad, shown);
    return bad;
}

/// Whether a missing directory can be created.
finding examine_parent(const core::directory_path& path) {
    const std::string parent = fs::path(path.text.data()).parent_path().native();
    const std::string place = parent.empty() ? "." : parent;
    if (::faccessat(AT_FDCWD, place.c_str(), W_OK | X_OK, AT_EACCESS) == 0) {
        return {good, fmt::format("{} will be created by the first program or elog that needs it.",
                                  path.text.data())};
    }
    finding bad{missing,
                fmt::format("{} cannot be created: {} does not exist, or is not writable ({}).",
                            path.text.data(), place, std::strerror(errno))};
    if (place == "/dev/shm") {
        bad.repair = "mkdir -p /dev/shm && mount -t tmpfs -o mode=1777 tmpfs /dev/shm";
        bad.as_root = true;
    } else {
        bad.repair = "unset EVENTLOG_DIR";
    }
    return bad;
}

finding examine_directory(const core::directory_path& path) {
    if (path.too_long) {
        return {missing, "EVENTLOG_DIR is too long for a path.", "unset EVENTLOG_DIR"};
    }
    if (!core::is_absolute(path)) {
        return {missing,
                fmt::format("EVENTLOG_DIR is {}, which is not an absolute path.", path.text.data()),
                "unset EVENTLOG_DIR"};
    }
    struct stat status {};
    const bool is_there = ::lstat(path.text.data(), &status) == 0 || errno != ENOENT;
    return is_there ? examine_existing(path) : examine_parent(path);
}

/// Says why consumers outside of this user namespace do not find the directory, if that is so.
void explain_namespace(finding& found, const core::directory_path& path) {
    const std::string_view shown = path.text.data();
    if (found.state == good && shown.starts_with("/dev/shm/eventlog-userns-")) {
        found.state = limited;
        found.text +=
            " It belongs to this user namespace, because root here is not root of the machine, and "
            "the user outside is not known. To record its programs from outside, set EVENTLOG_DIR "
            "to one directory for both.";
    }
}

}  // namespace

check_result check_directory(const machine_facts& machine) {
    finding found = examine_directory(machine.directory);
    explain_namespace(found, machine.directory);
    finding feature{good, machine.directory.text.data()};
    if (found.state != good) {
        std::string remedy = found.text;
        if (!found.repair.empty()) {
            remedy += fmt::format(" {}: {}", found.as_root ? "As root" : "Run", found.repair);
        }
        feature = {missing, "not usable", std::move(remedy)};
    }
    return {std::move(found), std::move(feature)};
}

check_result check_common_directory(const machine_facts& machine) {
    struct stat status {};
    if (std::string_view(machine.directory.text.data()) == directory_for_all ||
        ::secure_getenv("EVENTLOG_DIR") != nullptr || ::lstat(directory_for_all, &status) != 0) {
        return {};
    }
    finding unused{limited, {}, {}, true};
    const bool is_closed = ::faccessat(AT_FDCWD, directory_for_all, X_OK, AT_EACCESS) != 0;
    if (is_group_directory(status) && (is_closed || is_whole(status.st_gid))) {
        const std::string group = name_of_group(status.st_gid);
        unused.text = fmt::format("{} is for members of the group {}. You are not one, so your "
                                  "programs and elog use a directory of their own.",
                                  directory_for_all, group);
        unused.repair = fmt::format("usermod --append --groups {} {}", group, user_name());
    } else {
        unused.text = fmt::format(
            "{} exists, but not with the permissions that all users need, so it is not used.",
            directory_for_all);
        unused.repair = open_to_group(
            directory_for_all, status.st_gid == 0 ? usual_group : name_of_group(status.st_gid));
    }
    return {std::move(unused), {}};
}

check_result check_memory(const machine_facts& machine) {
    if (machine.directory.too_long) {
        return {finding(), {missing, "there is no directory", "See directory."}};
    }
    const fs::path place = fs::absolute(machine.directory.text.data());
    const std::optional<recording_space> room = space_for_recordings(place);
    if (!room) {
        const char* why = std::strerror(errno);
        return {{missing,
                 fmt::format("The room of {} cannot be determined ({}).", place.native(), why)},
                {missing, fmt::format("unknown ({})", why), "See directory."}};
    }
    const std::string numbers =
        room->has_limit ? fmt::format("{} MiB left, {} MiB a recording", room->left, room->wanted)
                        : fmt::format("no limit, {} MiB a recording", room->wanted);
    if (!room->is_enough()) {
        finding full{missing, fmt::format("{} MiB are left for {}, and a recording needs {} MiB: "
                                          "enlarge it, or record with a smaller --buffer-size.",
                                          room->left, place.native(), room->wanted)};
        if (place.parent_path() == "/dev/shm" && room->is_memory) {
            full.repair =
                fmt::format("mount -o remount,size={}M /dev/shm", room->size + 2 * room->wanted);
            full.as_root = true;
        }
        return {std::move(full),
                {missing, numbers,
                 "Give the file system more room, or record with a smaller "
                 "--buffer-size."}};
    }
    if (!room->is_memory) {
        return {{limited,
                 fmt::format("{} is not on a tmpfs: emitting may wait for a disk.", place.native()),
                 "unset EVENTLOG_DIR"},
                {limited, numbers + ", not on a tmpfs",
                 "Set EVENTLOG_DIR to a folder on a tmpfs: now emitting may wait for a "
                 "disk."}};
    }
    return {{good, fmt::format("{} MiB are left for {}; a recording needs {} MiB.", room->left,
                               place.native(), room->wanted)},
            {good, numbers}};
}

/// Memory of flight recorders, which may have been forgotten. Has no repair, because it is
/// intended.
check_result check_detached(const machine_facts& machine) {
    core::directory where;
    core::error_text ignored;
    if (machine.directory.too_long ||
        !where.open(machine.directory, core::if_missing::fail, ignored)) {
        return {};
    }
    std::vector<std::string> complaints;
    std::string names;
    std::uint64_t memory = 0;
    for (const running_subscription& each : read_subscriptions(where, complaints)) {
        if (!each.name.empty()) {
            names += (names.empty() ? "" : ", ") + each.name;
            memory += each.memory;
        }
    }
    if (names.empty()) {
        return {};
    }
    return {limited, fmt::format("{} KiB are used by flight recorders, until elog flight stop: {}.",
                                 memory >> 10U, names)};
}

}  // namespace elog::doctor
