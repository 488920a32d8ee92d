// SPDX-License-Identifier: MIT
//
// What programs and elog share: the directory, its memory, and restartable sequences.
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
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "discovery/machine.hpp"
#include "discovery/running_subscriptions.hpp"
#include "doctor/health.hpp"
#include "ring/rseq.hpp"
#include "ring/subscription_slots.hpp"
#include "shm/directory.hpp"

namespace elog {
namespace {

namespace core = eventlog::core;
namespace fs = std::filesystem;

/// As one word of a shell.
std::string quoted(const std::string& path) {
    std::string word = "'";
    for (const char c : path) {
        word += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return word + "'";
}

constexpr const char* directory_for_all = "/run/eventlog";
constexpr const char* group_folders[] = {"/run/eventlog/providers", "/run/eventlog/subscriptions"};
constexpr const char* usual_group = "tracing";

/// Made by root for a group: the directory itself, or a folder in it.
bool is_group_directory(const struct stat& status, mode_t mode = 02750) {
    return S_ISDIR(status.st_mode) && status.st_uid == 0 && (status.st_mode & 07777U) == mode;
}

/// The one for all users, whose group that is.
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

/// Makes a directory what the members of a group can use, whatever of it there is.
std::string open_to_group(const std::string& path, const std::string& group) {
    const std::string folders = fmt::format("{0} {0}/providers {0}/subscriptions", quoted(path));
    return fmt::format("mkdir -p {0} && chown root:{1} {0} && chmod 2770 {0} && chmod 2750 {2}",
                       folders, group, quoted(path));
}

/// What repairs a directory that cannot be used.
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
        return {"directory",
                condition::good,
                is_common
                    ? fmt::format("{} is for all of the group {}: there their programs and elog "
                                  "meet.",
                                  shown, name_of_group(status.st_gid))
                    : fmt::format("{} is yours alone: there programs and elog meet.", shown),
                {}};
    }
    const std::string providers = std::string(shown) + "/providers";
    if (::lstat(shown, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == ::geteuid() &&
        (status.st_mode & 0777U) == 0700U && ::lstat(providers.c_str(), &status) != 0 &&
        errno == ENOENT) {
        return {
            "directory", condition::good, fmt::format("{} is yours alone, and empty.", shown), {}};
    }
    finding bad{"directory", condition::missing, error.text(), {}};
    suggest_repair(bad, shown);
    return bad;
}

/// There is none yet: can it be made?
finding examine_parent(const core::directory_path& path) {
    const std::string parent = fs::path(path.text.data()).parent_path().native();
    const std::string place = parent.empty() ? "." : parent;
    if (::faccessat(AT_FDCWD, place.c_str(), W_OK | X_OK, AT_EACCESS) == 0) {
        return {"directory",
                condition::good,
                fmt::format("{} will be made by the first program or elog that needs it.",
                            path.text.data()),
                {}};
    }
    finding bad{"directory",
                condition::missing,
                fmt::format("{} cannot be made: {} is not there, or may not be written ({}).",
                            path.text.data(), place, std::strerror(errno)),
                {}};
    if (place == "/dev/shm") {
        bad.repair = "mkdir -p /dev/shm && mount -t tmpfs -o mode=1777 tmpfs /dev/shm";
        bad.as_root = true;
    } else {
        bad.repair = "unset EVENTLOG_DIR";
    }
    return bad;
}

finding examine_space(const core::directory_path& path) {
    const fs::path place = fs::absolute(path.text.data());
    const std::optional<recording_space> room = space_for_recordings(place);
    if (!room) {
        return {"memory",
                condition::missing,
                fmt::format("It cannot be found out how much room {} has ({}).", place.native(),
                            std::strerror(errno)),
                {}};
    }
    if (!room->is_enough()) {
        finding full{"memory",
                     condition::missing,
                     fmt::format("There are {} MiB left for {}, and a recording takes {} MiB: give "
                                 "it more, or record with a smaller --buffer-size.",
                                 room->left, place.native(), room->wanted),
                     {}};
        if (place.parent_path() == "/dev/shm" && room->is_memory) {
            full.repair =
                fmt::format("mount -o remount,size={}M /dev/shm", room->size + 2 * room->wanted);
            full.as_root = true;
        }
        return full;
    }
    if (!room->is_memory) {
        return {"memory", condition::note,
                fmt::format("{} is not on a tmpfs: emitting may wait for a disk.", place.native()),
                "unset EVENTLOG_DIR"};
    }
    return {"memory",
            condition::good,
            fmt::format("There are {} MiB left for {}; a recording takes {} MiB.", room->left,
                        place.native(), room->wanted),
            {}};
}

/// Memory that somebody has asked for and may have forgotten.
void examine_detached(const core::directory_path& path, std::vector<finding>& findings) {
    core::directory where;
    core::error_text ignored;
    if (!where.open(path, core::if_missing::fail, ignored)) {
        return;
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
    // No command that repairs it: it is as somebody wanted it.
    if (!names.empty()) {
        findings.push_back({"standing",
                            condition::note,
                            fmt::format("{} KiB are kept by what elog start began and elog stop "
                                        "gives back: {}.",
                                        memory >> 10U, names),
                            {}});
    }
}

/// There is one for all users, which we do not use.
void examine_common_directory(std::vector<finding>& findings) {
    const core::directory_path path = core::current_directory();
    struct stat status {};
    if (std::string_view(path.text.data()) == directory_for_all ||
        ::secure_getenv("EVENTLOG_DIR") != nullptr || ::lstat(directory_for_all, &status) != 0) {
        return;
    }
    finding unused{"common", condition::note, {}, {}};
    unused.as_root = true;
    const bool is_closed = ::faccessat(AT_FDCWD, directory_for_all, X_OK, AT_EACCESS) != 0;
    if (is_group_directory(status) && (is_closed || is_whole(status.st_gid))) {
        const std::string group = name_of_group(status.st_gid);
        unused.text = fmt::format("{} is for all of the group {}. You are not, so your programs "
                                  "and elog meet by themselves.",
                                  directory_for_all, group);
        unused.repair = fmt::format("usermod --append --groups {} {}", group, user_name());
    } else {
        unused.text = fmt::format("{} is there, but not as all users need it, so nobody meets "
                                  "there.",
                                  directory_for_all);
        unused.repair = open_to_group(
            directory_for_all, status.st_gid == 0 ? usual_group : name_of_group(status.st_gid));
    }
    findings.push_back(std::move(unused));
}

finding examine_rseq() {
    core::configure_rseq(core::register_membarrier());
    if (core::rseq_available()) {
        return {"rseq",
                condition::good,
                "Restartable sequences can be used: emitting takes the fast way.",
                {}};
    }
    return {"rseq", condition::note,
            "Restartable sequences cannot be used: all threads share one ring, and emitting takes "
            "longer. They take glibc 2.35, membarrier, and neither EVENTLOG_RSEQ=off nor "
            "GLIBC_TUNABLES that turn them off.",
            "unset EVENTLOG_RSEQ GLIBC_TUNABLES"};
}

}  // namespace

finding examine_directory() {
    const core::directory_path path = core::current_directory();
    if (path.too_long) {
        return {"directory", condition::missing, "EVENTLOG_DIR is too long for a path.",
                "unset EVENTLOG_DIR"};
    }
    struct stat status {};
    const bool is_there = ::lstat(path.text.data(), &status) == 0 || errno != ENOENT;
    return is_there ? examine_existing(path) : examine_parent(path);
}

void examine_memory(std::vector<finding>& findings) {
    const core::directory_path path = core::current_directory();
    findings.push_back(examine_directory());
    examine_common_directory(findings);
    if (!path.too_long) {
        findings.push_back(examine_space(path));
        examine_detached(path, findings);
    }
    findings.push_back(examine_rseq());
}

}  // namespace elog
