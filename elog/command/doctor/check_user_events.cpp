// SPDX-License-Identifier: MIT
//
// Checks of the kernel's user_events, from their existence to the permission to use them.
#include <grp.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "doctor/check.hpp"
#include "kernel/user_events_abi.hpp"

namespace elog::doctor {
namespace {

namespace core = eventlog::core;

constexpr const char* group_name = "tracing";
constexpr const char* settings_name = "eventlog.conf";

bool is_root() {
    return ::geteuid() == 0;
}

/// The command that gives the group its permissions.
std::string permit_group(const machine_facts& machine) {
    if (!machine.tmpfiles.empty() && machine.tracefs == usual_tracefs) {
        return fmt::format("systemd-tmpfiles --create {}", settings_name);
    }
    std::string commands = fmt::format(
        "chgrp {0} {1} {1}/user_events_data && chmod g+x {1} && chmod g+rw {1}/user_events_data",
        group_name, machine.tracefs);
    if (machine.has_status_page) {
        commands += fmt::format(" && chgrp {0} {1}/user_events_status && chmod g+r "
                                "{1}/user_events_status",
                                group_name, machine.tracefs);
    }
    return commands;
}

std::string create_group(const machine_facts& machine) {
    if (!machine.tmpfiles.empty() && has_program("systemd-sysusers")) {
        return fmt::format("systemd-sysusers {}", settings_name);
    }
    return fmt::format("{} {}", has_program("groupadd") ? "groupadd --system" : "addgroup -S",
                       group_name);
}

std::string add_to_group() {
    if (has_program("usermod")) {
        return fmt::format("usermod --append --groups {} {}", group_name, user_name());
    }
    return fmt::format("addgroup {} {}", user_name(), group_name);
}

finding require_tracefs(const machine_facts& machine) {
    if (!machine.has_user_events) {
        return {good, machine.tracefs.empty()
                          ? "tracefs is not mounted, and not needed without user_events."
                          : fmt::format("tracefs is mounted at {}.", machine.tracefs)};
    }
    if (machine.tracefs.empty()) {
        return {missing, "tracefs is not mounted.",
                fmt::format("mount -t tracefs tracefs {}", usual_tracefs), true};
    }
    if (!machine.may_search_tracefs && machine.tracefs != usual_tracefs) {
        // It is usually below debugfs, which is closed for good reasons.
        return {
            missing,
            fmt::format("tracefs is mounted at {} only, which you may not reach.", machine.tracefs),
            fmt::format("mount -t tracefs tracefs {}", usual_tracefs), true};
    }
    if (!machine.may_search_tracefs) {
        return {
            missing,
            fmt::format("tracefs is mounted at {}, and you may not search it.", machine.tracefs),
            permit_group(machine), true};
    }
    return {good, fmt::format("tracefs is mounted at {}, and you may search it.", machine.tracefs)};
}

finding describe_tracefs(const machine_facts& machine) {
    const std::string& place = machine.tracefs;
    if (place.empty()) {
        const std::string kinds =
            read_if_possible("/proc/filesystems", std::size_t{1} << 16U).value_or("");
        if (kinds.find("\ttracefs\n") == std::string::npos) {
            return {missing, "the kernel has none", "Use a kernel with CONFIG_TRACING."};
        }
        return {missing, "not mounted",
                fmt::format("As root: mount -t tracefs tracefs {}", usual_tracefs)};
    }
    if (!machine.may_search_tracefs) {
        return {limited, place + ", closed to you", "elog doctor names the commands that open it."};
    }
    return {good, place};
}

finding describe_user_events(const machine_facts& machine) {
    const core::user_events_device& device = machine.user_events;
    const std::string why = machine.user_events_error.text().c_str();
    if (device.file) {
        if (device.has_status_page) {
            return {limited, "page of status bits (before Linux 6.4)",
                    "Use Linux 6.4 or later: there disabled events cost no more than without the "
                    "kernel."};
        }
        return {good, "words of programs, by ioctl (Linux 6.4)"};
    }
    if (device.status == EVENTLOG_STATUS_NO_KERNEL_SUPPORT) {
        return {missing, "not supported", why};
    }
    return {missing,
            device.is_support_unknown ? "unknown without access to tracefs" : "closed to you", why};
}

/// Whether the kernel sets words of programs, as since Linux 6.4.
bool reports_enable_words(const core::user_events_device& device) {
    return static_cast<bool>(device.file) && !device.has_status_page;
}

/// Whether this process has the group. A login from before the user was added does not.
bool has_group(gid_t wanted) {
    std::vector<gid_t> groups(static_cast<std::size_t>(std::max(::getgroups(0, nullptr), 0)));
    const int count = ::getgroups(static_cast<int>(groups.size()), groups.data());
    groups.resize(static_cast<std::size_t>(std::max(count, 0)));
    return ::getegid() == wanted || std::find(groups.begin(), groups.end(), wanted) != groups.end();
}

bool is_member(const ::group& found) {
    const std::string user = user_name();
    for (char** member = found.gr_mem; member != nullptr && *member != nullptr; ++member) {
        if (user == *member) {
            return true;
        }
    }
    return false;
}

}  // namespace

check_result check_tracefs(const machine_facts& machine) {
    return {require_tracefs(machine), describe_tracefs(machine)};
}

check_result check_user_events(const machine_facts& machine) {
    if (!machine.has_user_events) {
        return {{limited, machine.user_events_error.text().c_str()}, describe_user_events(machine)};
    }
    return {{good, machine.has_status_page
                       ? "The kernel has user_events with a page of status bits, as before Linux "
                         "6.4."
                       : "The kernel has user_events that set a bit at an address, as since Linux "
                         "6.4."},
            describe_user_events(machine)};
}

check_result check_multi_format(const machine_facts& machine) {
    const core::user_events_device& device = machine.user_events;
    if (!reports_enable_words(device)) {
        return {missing, "needs user_events of Linux 6.4", "See user_events."};
    }
    if (!core::supports_flag(device.file.get(), core::user_events_multi_format)) {
        return {missing, "an event has the fields of its first program",
                "Use a newer kernel, such as Linux 6.12. Until then programs with other fields are "
                "not recorded."};
    }
    return {good, "versions of an event side by side"};
}

check_result check_persistence(const machine_facts& machine) {
    const core::user_events_device& device = machine.user_events;
    if (!reports_enable_words(device)) {
        return {missing, "needs user_events of Linux 6.4", "See user_events."};
    }
    if (!core::supports_flag(device.file.get(), core::user_events_persist)) {
        return {missing, "events disappear with their programs",
                "Use Linux 6.7 or later for elog kernel register."};
    }
    if (!has_perfmon()) {
        return {limited, "needs CAP_PERFMON, which you lack", "Run elog kernel register as root."};
    }
    return {good, "events may stay without a program"};
}

check_result check_data_file(const machine_facts& machine) {
    if (!machine.has_user_events) {
        return {good, "Not needed without user_events."};
    }
    if (machine.may_use_user_events) {
        return {good, "You may write events to user_events_data of tracefs."};
    }
    const char* const files = machine.has_status_page
                                  ? "user_events_data, or not read user_events_status,"
                                  : "user_events_data";
    if (machine.tracefs.empty() ||
        (!machine.may_search_tracefs && machine.tracefs != usual_tracefs)) {
        return {missing, "You can see it when tracefs is mounted."};
    }
    return {missing,
            machine.may_search_tracefs
                ? fmt::format("You may not read and write {} of tracefs.", files)
                : "You may not reach user_events_data, as you may not search tracefs.",
            permit_group(machine), true};
}

check_result check_group(const machine_facts& machine) {
    if (!machine.has_user_events) {
        return {good, "Without user_events no group is needed."};
    }
    const ::group* found = ::getgrnam(group_name);
    // With permission to write events the group is not needed.
    const check_state lacking = machine.may_use_user_events ? limited : missing;
    if (found == nullptr) {
        std::string repair = create_group(machine);
        if (!is_root()) {
            repair += " && " + add_to_group();
        }
        return {lacking, fmt::format("There is no group {}.", group_name), std::move(repair), true};
    }
    if (is_root() || has_group(found->gr_gid)) {
        return {good, is_root()
                          ? fmt::format("There is a group {}; you are root, and do not need it.",
                                        group_name)
                          : fmt::format("You are in the group {}.", group_name)};
    }
    if (is_member(*found)) {
        return {lacking,
                fmt::format("You have been added to the group {} since you logged in.", group_name),
                fmt::format("newgrp {}", group_name)};
    }
    return {lacking,
            fmt::format("You are not in the group {}. Log in again after you have been added.",
                        group_name),
            add_to_group(), true};
}

check_result check_boot(const machine_facts& machine) {
    if (!machine.tmpfiles.empty()) {
        return {good, fmt::format("{}/{} gives the group {} its permissions at every boot.",
                                  machine.tmpfiles, settings_name, group_name)};
    }
    return {machine.has_user_events ? limited : good,
            machine.has_user_events
                ? fmt::format("Permissions for tracefs end with the next boot: no tmpfiles.d/{} of "
                              "eventlog is installed for systemd-tmpfiles.",
                              settings_name)
                : std::string("Without user_events nothing has to be permitted at boot.")};
}

check_result check_event_limit(const machine_facts& machine) {
    const std::optional<std::string> text =
        read_if_possible(core::user_events_limit_path, std::size_t{64});
    std::uint64_t limit = 0;
    if (!text ||
        std::from_chars(text->data(), text->data() + text->size(), limit).ec != std::errc{}) {
        return {good, "This kernel has no limit that can be set."};
    }
    // Only root may read the number.
    const std::string status =
        read_if_possible(machine.tracefs + "/user_events_status", std::size_t{64} << 20U)
            .value_or("");
    constexpr std::string_view title = "Active: ";
    const std::size_t at = status.rfind(title);
    std::uint64_t active = 0;
    if (at != std::string::npos) {
        static_cast<void>(std::from_chars(status.data() + at + title.size(),
                                          status.data() + status.size(), active));
    }
    const std::string so_far =
        at != std::string::npos ? fmt::format(", and has {}", active) : std::string();
    if (active < limit) {
        return {good, fmt::format("The kernel accepts {} events{}.", limit, so_far)};
    }
    return {
        missing,
        fmt::format("The kernel accepts {} events{}: there is no room for more.", limit, so_far),
        fmt::format("sysctl -w kernel.user_events_max={}",
                    std::max<std::uint64_t>(32768, 2 * limit)),
        true};
}

}  // namespace elog::doctor
