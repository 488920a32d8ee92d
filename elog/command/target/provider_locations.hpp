// SPDX-License-Identifier: MIT
//
// Where programs may offer events: here, where other users' do, where those of a group do, and
// where those of containers do.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace elog {

struct provider_location {
    enum class kind {
        here,     // as this process is
        common,   // /run/eventlog, which root has made for a group
        user,     // a directory of that user's in /dev/shm
        process,  // where that process is, in a container
    };

    kind what = kind::here;
    uid_t user = 0;
    gid_t group = 0;  // of the common one
    pid_t process = 0;
    std::string process_name{};

    /// Makes this process one of that place, which may do no more than those who are there: as
    /// become_named_user and enter_named_process, and throws what they do.
    void enter() const;
    /// "user 1000 (alice)", "process 4242 (shop) of user 1000 (alice)", "/run/eventlog".
    [[nodiscard]] std::string title() const;
    /// The command that looks there alone.
    [[nodiscard]] std::string list_command() const;
};

struct found_locations {
    std::vector<provider_location>
        locations;            // here, the common one, users by number, processes by number
    std::size_t skipped = 0;  // there are more than anybody reads through
};

/// Users who have a directory in /dev/shm, but for our own. Only their owners are looked at:
/// nothing in them is opened.
[[nodiscard]] std::vector<uid_t> find_other_users();

/// All there are: for each /dev/shm that is not our own, and each user in it, one process leads
/// there. Of these nothing is looked at but what the kernel says of them in /proc. Whom we may not
/// look at is left out and not counted.
[[nodiscard]] found_locations find_provider_locations();

}  // namespace elog
