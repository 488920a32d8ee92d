// SPDX-License-Identifier: MIT
//
// Facts about this machine and this user, which the checks examine. Reading them changes nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "kernel/user_events_device.hpp"
#include "platform/error_text.hpp"
#include "shm/directory.hpp"

namespace elog::doctor {

/// The usual mount point of tracefs.
inline constexpr const char* usual_tracefs = "/sys/kernel/tracing";

/// Facts that several checks use.
struct machine_facts {
    eventlog::core::directory_path directory;
    int membarrier_error = 0;  // 0: membarrier can restart sequences
    bool has_rseq = false;
    eventlog::core::user_events_device user_events{};
    eventlog::core::error_text user_events_error{};  // if its file is not open
    bool has_user_events = false;
    bool may_use_user_events = false;
    bool has_status_page = false;  // before Linux 6.4; known without access to tracefs
    std::string tracefs;  // its mount point, preferably the usual one; empty: none is visible
    bool may_search_tracefs = false;
    std::string tmpfiles;  // the folder tmpfiles.d with eventlog's settings; empty: none
};

/// Reads the facts. Registers this process for membarrier(2).
[[nodiscard]] machine_facts examine_machine();

/// The name of the effective user, or the number of a user without an account.
[[nodiscard]] std::string user_name();

/// As faccessat(2), for the effective user.
[[nodiscard]] bool is_accessible(const std::string& path, int mode);

/// The file, or at least `size` bytes of a larger one; nothing after an error.
[[nodiscard]] std::optional<std::string> read_if_possible(const std::string& path,
                                                          std::size_t size);

/// Whether a program is in PATH or in a folder for programs of root.
[[nodiscard]] bool has_program(const std::string& name);

/// Whether this process has CAP_PERFMON or CAP_SYS_ADMIN, which includes it.
[[nodiscard]] bool has_perfmon();

/// The setting kernel.perf_event_paranoid; nothing: the kernel has no perf events.
[[nodiscard]] std::optional<int> perf_event_paranoid();

/// Whether this process may read trace events of all programs through perf, with that setting.
[[nodiscard]] bool may_read_through_perf(int paranoid);

/// Whether this process may list the events in tracefs, which is mounted at that place.
[[nodiscard]] bool may_read_events(const std::string& tracefs);

/// The room for recordings in a file system, in MiB.
struct recording_space {
    std::uint64_t size = 0;
    std::uint64_t left = 0;
    std::uint64_t wanted = 0;  // by a recording with default options
    bool is_memory = false;
    bool has_limit = true;

    [[nodiscard]] bool is_enough() const noexcept { return !has_limit || left >= wanted; }
};

/// The room at a place, or in its parent folder if it does not exist. Nothing after an error, see
/// errno.
[[nodiscard]] std::optional<recording_space> space_for_recordings(
    const std::filesystem::path& place);

}  // namespace elog::doctor
