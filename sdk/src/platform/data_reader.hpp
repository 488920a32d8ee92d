// SPDX-License-Identifier: MIT
//
// Whether the user who reads the events of this process may inspect the process anyway.
//
// A process with more rights than a user must not give its events to that user: setgid programs,
// file capabilities, and a root process that has become the user for a while. The measure is
// ptrace(2): the user could read the whole memory of a process that passes.
//
// Any thread, any signal handler; no cancellation point; errno stays unchanged.
#pragma once

#include <cstdint>

#include "platform/error_text.hpp"

namespace eventlog::core {

/// The reader of what this process publishes.
struct data_reader {
    enum class kind : std::uint16_t {
        unknown,  // nothing is published
        user,     // the owner of the directory
        group,    // members of a group that root has set up
    };
    kind type = kind::unknown;
    /// Root's directory, and that of a group: 0. In a user namespace that is the namespace's root,
    /// usually an ordinary user outside of it.
    std::uint32_t user = 0;
};

/// What keeps a reader from inspecting this process.
enum class read_obstacle {
    none,
    program,  // setuid, setgid, file capabilities or a security module (AT_SECURE)
    user_ids,
    group_ids,
    capabilities,
    not_dumpable,
    unknown,  // a system call is forbidden
};

/// Stores the reader of this process, when it publishes a provider.
void remember_data_reader(const data_reader& reader) noexcept;

/// Of the stored reader. System calls: none if it is root of the machine, 2 for a group that this
/// root has set up, 1 for root of another user namespace, 4 for another user. More in rare cases: 7
/// for a process with capabilities, and 8 for one that may not be dumped and whose reader is root.
[[nodiscard]] read_obstacle find_obstacle() noexcept;

/// The rest of a sentence about a process.
[[nodiscard]] const char* describe_obstacle(read_obstacle found) noexcept;

/// The message for a provider: what happened to it, why, and where the rule is.
void explain_obstacle(read_obstacle found, const char* provider, error_text& error) noexcept;

/// Whether this process may still give events to its reader: it may have gained rights.
[[nodiscard]] bool may_be_read() noexcept;

}  // namespace eventlog::core
