// SPDX-License-Identifier: MIT
//
// The places in which programs may offer events: this one, and those of other users, of a group,
// and of containers.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace elog {

struct provider_location {
    enum class kind {
        here,     // the place of this process
        common,   // /run/eventlog, created by root for a group
        user,     // the directory of a user in /dev/shm
        process,  // the container of a process
    };

    kind what = kind::here;
    uid_t user = 0;
    gid_t group = 0;  // of a common place
    pid_t process = 0;
    std::string process_name{};

    /// Moves this process to that place, with no more rights than its programs, like
    /// become_named_user and enter_named_process, and throws what they throw.
    void enter() const;
    /// "user 1000 (alice)", "process 4242 (shop) of user 1000 (alice)", "/run/eventlog".
    [[nodiscard]] std::string title() const;
    /// The command that lists only this place.
    [[nodiscard]] std::string list_command() const;
};

struct found_locations {
    std::vector<provider_location>
        locations;            // this place, the common one, users by number, processes by number
    std::size_t skipped = 0;  // locations beyond the limit
};

/// Other users with a directory in /dev/shm. Only the owners of the directories are read; nothing
/// in them is opened.
[[nodiscard]] std::vector<uid_t> find_other_users();

/// Those of find_other_users() who have a process: a directory alone may be left over. If /proc
/// hides the processes of other users, all of them.
[[nodiscard]] std::vector<uid_t> find_active_users();

/// The group of /run/eventlog if this user may not enter it; nothing if the user may, or if it does
/// not exist.
[[nodiscard]] std::optional<gid_t> find_closed_group();

/// All places: for each /dev/shm that is not the own one, and for each user in it, one process.
/// Only /proc is read. Processes that this one may not inspect are left out and not counted. In a
/// container that --at has entered, this place alone.
[[nodiscard]] found_locations find_provider_locations();

}  // namespace elog
