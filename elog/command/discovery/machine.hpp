// SPDX-License-Identifier: MIT
//
// Facts about this machine and this user, which elog doctor judges and elog features lists. Finding
// them out changes nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace elog {

/// Where tracefs belongs.
inline constexpr const char* usual_tracefs = "/sys/kernel/tracing";

/// Where tracefs is mounted, the usual place first; empty: nowhere that we see.
[[nodiscard]] std::string find_tracefs();

/// What access() says, for the effective user.
[[nodiscard]] bool is_accessible(const std::string& path, int mode);

/// The file, or at least `size` bytes of it if it is larger.
[[nodiscard]] std::optional<std::string> read_if_possible(const std::string& path,
                                                          std::size_t size);

/// Whether there is such a program in PATH, or where those of root are.
[[nodiscard]] bool has_program(const std::string& name);

/// Whether this process has CAP_PERFMON, as the kernel judges: CAP_SYS_ADMIN has it in it.
[[nodiscard]] bool has_perfmon();

/// The kernel's setting of who may use perf; nothing: it has no perf.
[[nodiscard]] std::optional<int> perf_event_paranoid();

/// Whether perf lets this process read trace events of all programs, with that setting.
[[nodiscard]] bool may_read_through_perf(int paranoid);

/// Whether this process may find out which events there are, where tracefs is mounted at that
/// place.
[[nodiscard]] bool may_read_events(const std::string& tracefs);

/// What a file system has for recordings, in MiB.
struct recording_space {
    std::uint64_t size = 0;
    std::uint64_t left = 0;
    std::uint64_t wanted = 0;  // by a recording for which nothing else is asked
    bool is_memory = false;
    bool has_limit = true;

    [[nodiscard]] bool is_enough() const noexcept { return !has_limit || left >= wanted; }
};

/// Of the place, or of the folder that it is in if it is not there yet. Empty if neither can be
/// asked; errno says why.
[[nodiscard]] std::optional<recording_space> space_for_recordings(
    const std::filesystem::path& place);

}  // namespace elog
