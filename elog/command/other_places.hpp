// SPDX-License-Identifier: MIT
//
// Where programs may offer events besides in our own directory: where other users' do, and where
// those of containers do.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace elog {

struct other_place {
    uid_t user = 0;
    std::optional<pid_t> process;  // one of a container; nothing: a directory of that user's here
    std::string process_name;

    /// What leads there in front of a command: "--user 1000", "--at 4242".
    [[nodiscard]] std::vector<std::string> words() const;
    /// "user 1000 (alice)", "process 4242 (shop) of user 1000 (alice)".
    [[nodiscard]] std::string title() const;
};

struct other_places {
    std::vector<other_place> places;  // users by number, then processes by number
    std::size_t left_out = 0;         // there are more of them than anybody wants to see
};

/// Users who have a directory in /dev/shm, but for our own. Only their owners are looked at:
/// nothing in them is opened.
[[nodiscard]] std::vector<uid_t> find_other_users();

/// All there are: these users, and for each /dev/shm that is not our own and each user in it a
/// process. Of these nothing is looked at but what the kernel says of them in /proc, so nobody
/// there can have us wait. Whom we may not look at is left out.
[[nodiscard]] other_places find_other_places();

}  // namespace elog
