// SPDX-License-Identifier: MIT
//
// Running programs of this user that have loaded the library and have no file in the directory, and
// those that have lost events because they could not attach to a subscription; with the reason as
// far as it can be seen from outside.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/core.h>
#include <fmt/format.h>

#include "base/proc_file.hpp"
#include "doctor/check.hpp"
#include "doctor/processes.hpp"
#include "memory/running_providers.hpp"
#include "shm/user_directory.hpp"
#include "text/append_format.hpp"
#include "text/escaped_text.hpp"

namespace elog::doctor {
namespace {

namespace core = eventlog::core;
namespace fs = std::filesystem;

constexpr std::size_t environment_max = std::size_t{4} << 20U;
constexpr std::size_t limits_max = 16384;

/// The value of a variable when the program started.
std::optional<std::string_view> variable(std::string_view environment, std::string_view name) {
    while (!environment.empty()) {
        std::string_view text = take_until(environment, '\0');
        if (take_until(text, '=') == name) {
            return text;
        }
    }
    return std::nullopt;
}

bool is_in_other_mounts(const std::string& pid) {
    struct stat own {};
    struct stat other {};
    return ::stat("/proc/self/ns/mnt", &own) == 0 &&
           ::stat(proc_path(pid, "ns/mnt").c_str(), &other) == 0 && own.st_ino != other.st_ino;
}

/// A limit that prevents what the library does if it is lower than that.
struct limit_row {
    const char* label;  // in /proc/PID/limits
    std::uint64_t enough;
    const char* name;
};
constexpr limit_row limit_rows[] = {
    {"Max file size", std::uint64_t{1} << 20U, "file sizes (ulimit -f)"},  // of a few providers
    {"Max address space", UINT64_MAX, "its address space (ulimit -v)"},
    {"Max open files", 16, "open files (ulimit -n)"},
};

/// Nothing for "unlimited".
std::optional<std::uint64_t> first_number(std::string_view text) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    std::uint64_t number = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
    return result.ec == std::errc() ? std::optional(number) : std::nullopt;
}

/// The limit that may keep the library from its work.
std::optional<std::string> limit_of(const std::string& pid) {
    const std::string limits = read_if_possible(proc_path(pid, "limits"), limits_max).value_or("");
    for (const limit_row& row : limit_rows) {
        const auto limit = first_number(status_value(limits, row.label));
        if (limit && *limit < row.enough) {
            return fmt::format("its limit of {} is {}", row.name, *limit);
        }
    }
    return std::nullopt;
}

std::string visible(std::string_view text) {
    fmt::memory_buffer shown;
    append_visible(shown, text);
    return fmt::to_string(shown);
}

/// Nothing for a program of another directory than the one that elog's user has chosen.
std::optional<std::string> reason_of(const std::string& pid, const std::string& status) {
    const std::string environment =
        read_if_possible(proc_path(pid, "environ"), environment_max).value_or("");
    const char* chosen = ::secure_getenv("EVENTLOG_DIR");
    const std::string_view directory = variable(environment, "EVENTLOG_DIR").value_or("");
    if (chosen != nullptr && directory != chosen) {
        return std::nullopt;
    }
    if (variable(environment, "EVENTLOG") == "off") {
        return "EVENTLOG=off";
    }
    if (chosen == nullptr && !directory.empty()) {
        return fmt::format("EVENTLOG_DIR={}", visible(directory));
    }
    if (is_in_other_mounts(pid)) {
        return "it has other mounts, as in a container";
    }
    std::error_code error;
    if (const fs::path root = fs::read_symlink(proc_path(pid, "root"), error);
        !error && root != "/") {
        return fmt::format("its root directory is {}", visible(root.native()));
    }
    if (std::optional<std::string> limit = limit_of(pid)) {
        return limit;
    }
    const std::vector<unsigned> sandbox = status_numbers(status, "Seccomp:");
    if (!sandbox.empty() && sandbox[0] != 0) {
        return "it runs in a sandbox (seccomp), see System calls in eventlog(7)";
    }
    return "it has no provider, or eventlog_provider_status() in the program gives the reason";
}

bool is_of_this_user(const std::string& status) {
    const std::vector<unsigned> users = status_numbers(status, "Uid:");
    return users.size() == 4 && users[1] == ::geteuid();
}

core::directory_path path_of_user() {
    core::directory_path path;
    const core::user_directory_name name = core::find_user_directory(::geteuid());
    std::copy(name.begin(), name.end(), path.text.begin());
    return path;
}

std::string status_of(const std::string& pid) {
    return read_if_possible(proc_path(pid, "status"), process_status_max).value_or("");
}

/// Shows the first programs of a row, and counts the remaining ones.
class program_list {
  public:
    void add(const std::string& pid, const std::string& status, const std::string& text) {
        if (++count_ <= shown_programs_max) {
            append(shown_, count_ == 1 ? "" : "; ");
            append_visible(shown_, process_name(status));
            append_format(shown_, " ({}): {}", pid, text);
        }
    }
    /// No row without programs.
    [[nodiscard]] check_result row(std::string_view beginning) {
        if (count_ == 0) {
            return {};
        }
        if (count_ > shown_programs_max) {
            append_format(shown_, "; and {} more", count_ - shown_programs_max);
        }
        return {{limited, fmt::format("{}: {}.", beginning, fmt::to_string(shown_))}, {}};
    }

  private:
    std::size_t count_ = 0;
    fmt::memory_buffer shown_;
};

}  // namespace

check_result check_unpublished_processes(const machine_facts& machine) {
    publishers published = find_published(machine.directory);
    published.everywhere.merge(find_published(path_of_group()).everywhere);
    published.everywhere.merge(find_published(path_of_user()).everywhere);
    program_list programs;
    for (const std::string& pid : find_unpublished(published)) {
        const std::string status = status_of(pid);
        const auto reason = is_of_this_user(status) ? reason_of(pid, status) : std::nullopt;
        if (reason) {
            programs.add(pid, status, *reason);
        }
    }
    return programs.row("Programs that have loaded the library and publish no events here");
}

check_result check_unattached_processes(const machine_facts& machine) {
    core::directory where;
    core::error_text ignored;
    if (machine.directory.too_long ||
        !where.open(machine.directory, core::if_missing::fail, ignored)) {
        return {};
    }
    std::map<std::uint32_t, std::uint64_t> lost;
    for (const running_provider& provider : read_providers(where).providers) {
        lost[provider.pid] += provider.counters.lost_unattached;
    }
    program_list programs;
    for (const std::string& pid : find_published(machine.directory).pids) {
        const auto events = lost[static_cast<std::uint32_t>(std::stoul(pid))];
        const std::string status = status_of(pid);
        // Without a limit, these are events before the program had attached.
        const auto reason = events != 0 && is_of_this_user(status) ? limit_of(pid) : std::nullopt;
        if (reason) {
            programs.add(pid, status, fmt::format("{} events, {}", events, *reason));
        }
    }
    return programs.row("Programs whose events were lost because they could not attach");
}

}  // namespace elog::doctor
