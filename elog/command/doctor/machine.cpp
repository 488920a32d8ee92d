// SPDX-License-Identifier: MIT
#include "doctor/machine.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <pwd.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>

#include <fmt/core.h>

#include "base/user_error.hpp"
#include "cli/whole_files.hpp"
#include "kernel/user_events_abi.hpp"
#include "memory/subscription.hpp"
#include "ring/rseq.hpp"
#include "ring/subscription_slots.hpp"

namespace elog::doctor {

namespace core = eventlog::core;

namespace {

// linux/capability.h of Debian 12 has both.
constexpr unsigned performance_monitoring = CAP_PERFMON;
constexpr unsigned administration = CAP_SYS_ADMIN;

bool has_capability(unsigned wanted) {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets{};
    return ::syscall(SYS_capget, &header, sets.data()) == 0 &&
           (sets[wanted / 32].effective >> wanted % 32 & 1U) != 0;
}

std::string find_tracefs() {
    struct statfs file_system {};
    if (::statfs(usual_tracefs, &file_system) == 0 && file_system.f_type == TRACEFS_MAGIC) {
        return usual_tracefs;
    }
    const std::string mounts = read_if_possible("/proc/self/mounts", 1U << 20U).value_or("");
    std::array<char, 4096> path{};
    std::size_t at = 0;
    if (core::next_tracefs_mount(mounts.data(), mounts.size(), at, "", path.data(), path.size())) {
        return path.data();
    }
    return {};
}

/// The folder in which systemd-tmpfiles finds eventlog's settings.
std::string find_tmpfiles() {
    if (!has_program("systemd-tmpfiles")) {
        return {};
    }
    for (const char* folder : {"/etc", "/run", "/usr/local/lib", "/usr/lib"}) {
        std::string settings = fmt::format("{}/tmpfiles.d", folder);
        if (is_accessible(settings + "/eventlog.conf", F_OK)) {
            return settings;
        }
    }
    return {};
}

}  // namespace

machine_facts examine_machine() {
    machine_facts facts;
    facts.directory = core::current_directory();
    const bool can_restart = core::register_membarrier();
    facts.membarrier_error = can_restart ? 0 : errno;
    core::configure_rseq(can_restart);
    facts.has_rseq = core::rseq_available();
    facts.user_events = core::open_user_events(facts.user_events_error);
    facts.has_user_events = facts.user_events.status != EVENTLOG_STATUS_NO_KERNEL_SUPPORT;
    facts.may_use_user_events = static_cast<bool>(facts.user_events.file);
    facts.has_status_page =
        facts.has_user_events && !is_accessible(core::user_events_limit_path, F_OK);
    facts.tracefs = find_tracefs();
    facts.may_search_tracefs = !facts.tracefs.empty() && is_accessible(facts.tracefs, X_OK);
    facts.tmpfiles = find_tmpfiles();
    return facts;
}

bool has_perfmon() {
    return has_capability(performance_monitoring) || has_capability(administration);
}

std::optional<int> perf_event_paranoid() {
    const std::string text =
        read_if_possible("/proc/sys/kernel/perf_event_paranoid", 64).value_or("");
    int level = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), level).ec != std::errc{}) {
        return std::nullopt;
    }
    return level;
}

bool may_read_through_perf(int paranoid) {
    return paranoid < 0 || has_perfmon();
}

bool may_read_events(const std::string& tracefs) {
    const std::string folder = tracefs + "/events";
    // Every kernel has this file; its mode is that of all events.
    return !tracefs.empty() && is_accessible(folder, R_OK | X_OK) &&
           is_accessible(folder + "/header_event", R_OK);
}

std::string user_name() {
    const passwd* user = ::getpwuid(::geteuid());
    return user != nullptr ? user->pw_name : std::to_string(::geteuid());
}

bool is_accessible(const std::string& path, int mode) {
    return ::faccessat(AT_FDCWD, path.c_str(), mode, AT_EACCESS) == 0;
}

std::optional<std::string> read_if_possible(const std::string& path, std::size_t size) {
    try {
        return read_file_up_to(path, size);
    } catch (const user_error&) {
        return std::nullopt;
    }
}

bool has_program(const std::string& name) {
    const char* path = std::getenv("PATH");
    std::string folders = path == nullptr ? "" : path;
    folders += ":/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin";
    for (std::size_t begin = 0; begin <= folders.size();) {
        const std::size_t end = std::min(folders.find(':', begin), folders.size());
        const std::string folder = folders.substr(begin, end - begin);
        if (folder.starts_with('/') &&
            ::access(fmt::format("{}/{}", folder, name).c_str(), X_OK) == 0) {
            return true;
        }
        begin = end + 1;
    }
    return false;
}

std::optional<recording_space> space_for_recordings(const std::filesystem::path& place) {
    struct statfs file_system {};
    if (::statfs(place.c_str(), &file_system) != 0 &&
        ::statfs(place.parent_path().c_str(), &file_system) != 0) {
        return std::nullopt;
    }
    constexpr std::uint64_t mebi = 1U << 20U;
    const auto in_mebi = [&](auto blocks) {
        return static_cast<std::uint64_t>(blocks) *
               static_cast<std::uint64_t>(file_system.f_bsize) / mebi;
    };
    recording_space room;
    room.size = in_mebi(file_system.f_blocks);
    room.left = in_mebi(file_system.f_bavail);
    room.wanted = default_buffers_size() / mebi;
    room.is_memory = file_system.f_type == TMPFS_MAGIC || file_system.f_type == RAMFS_MAGIC;
    room.has_limit = file_system.f_type != RAMFS_MAGIC;  // whose free space reads as 0
    return room;
}

}  // namespace elog::doctor
