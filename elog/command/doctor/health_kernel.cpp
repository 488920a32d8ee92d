// SPDX-License-Identifier: MIT
//
// The kernel's user_events, from having them to being allowed to use them, and its perf events.
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/core.h>

#include "discovery/machine.hpp"
#include "doctor/health.hpp"
#include "kernel/user_events_abi.hpp"
#include "kernel/user_events_device.hpp"

namespace elog {
namespace {

namespace core = eventlog::core;

constexpr const char* group_name = "tracing";
constexpr const char* settings_name = "eventlog.conf";

/// What the areas below know of each other.
struct kernel_facts {
    bool has_events = false;       // of the kind that libeventlog uses
    bool has_status_page = false;  // and those of Linux before 6.4, with a page of status bits
    bool may_use = false;          // now, by this user
    std::string tracefs;           // where it is mounted; empty: nowhere
    bool may_search = false;
    std::string settings;  // the folder tmpfiles.d that has ours; empty: none
};

bool is_root() {
    return ::geteuid() == 0;
}

/// Where systemd-tmpfiles finds our settings.
std::string find_settings() {
    if (!has_program("systemd-tmpfiles")) {
        return {};
    }
    for (const char* folder : {"/etc", "/run", "/usr/local/lib", "/usr/lib"}) {
        std::string settings = fmt::format("{}/tmpfiles.d", folder);
        if (is_accessible(fmt::format("{}/{}", settings, settings_name), F_OK)) {
            return settings;
        }
    }
    return {};
}

/// The command that gives the group its permissions.
std::string permit_group(const kernel_facts& facts) {
    if (!facts.settings.empty() && facts.tracefs == usual_tracefs) {
        return fmt::format("systemd-tmpfiles --create {}", settings_name);
    }
    std::string commands = fmt::format(
        "chgrp {0} {1} {1}/user_events_data && chmod g+x {1} && chmod g+rw {1}/user_events_data",
        group_name, facts.tracefs);
    if (facts.has_status_page) {
        commands += fmt::format(" && chgrp {0} {1}/user_events_status && chmod g+r "
                                "{1}/user_events_status",
                                group_name, facts.tracefs);
    }
    return commands;
}

std::string create_group(const kernel_facts& facts) {
    if (!facts.settings.empty() && has_program("systemd-sysusers")) {
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

finding examine_user_events(kernel_facts& facts) {
    core::error_text why;
    const core::user_events_device device = core::open_user_events(why);
    facts.has_events = device.status != EVENTLOG_NO_KERNEL_SUPPORT;
    facts.may_use = static_cast<bool>(device.file);
    if (!facts.has_events) {
        return {"user_events", condition::note, why.text(), {}};
    }
    facts.has_status_page = !is_accessible(core::user_events_limit_path, F_OK);
    return {"user_events",
            condition::good,
            facts.has_status_page
                ? "The kernel has user_events with a page of status bits, as before Linux 6.4."
                : "The kernel has user_events that set a bit at an address, as since Linux 6.4.",
            {}};
}

finding examine_tracefs(const kernel_facts& facts) {
    if (!facts.has_events) {
        return {"tracefs",
                condition::good,
                facts.tracefs.empty()
                    ? "tracefs is not mounted, and without user_events need not be."
                    : fmt::format("tracefs is mounted at {}.", facts.tracefs),
                {}};
    }
    if (facts.tracefs.empty()) {
        return {"tracefs", condition::missing, "tracefs is not mounted.",
                fmt::format("mount -t tracefs tracefs {}", usual_tracefs), true};
    }
    if (!facts.may_search && facts.tracefs != usual_tracefs) {
        // Mostly below debugfs, which is root's alone for good reasons.
        return {
            "tracefs", condition::missing,
            fmt::format("tracefs is mounted at {} only, which you may not reach.", facts.tracefs),
            fmt::format("mount -t tracefs tracefs {}", usual_tracefs), true};
    }
    if (!facts.may_search) {
        return {"tracefs", condition::missing,
                fmt::format("tracefs is mounted at {}, and you may not search it.", facts.tracefs),
                permit_group(facts), true};
    }
    return {"tracefs",
            condition::good,
            fmt::format("tracefs is mounted at {}, and you may search it.", facts.tracefs),
            {}};
}

finding examine_data(const kernel_facts& facts) {
    constexpr const char* item = "user_events_data";
    if (!facts.has_events) {
        return {item, condition::good, "Without user_events there is none, and need not be.", {}};
    }
    if (facts.may_use) {
        return {item, condition::good, "You may write events to user_events_data of tracefs.", {}};
    }
    const char* const files = facts.has_status_page
                                  ? "user_events_data, or not read user_events_status,"
                                  : "user_events_data";
    if (facts.tracefs.empty() || (!facts.may_search && facts.tracefs != usual_tracefs)) {
        return {item, condition::missing, "You can see it when tracefs is mounted.", {}};
    }
    return {item, condition::missing,
            facts.may_search ? fmt::format("You may not read and write {} of tracefs.", files)
                             : "You may not reach user_events_data, as you may not search tracefs.",
            permit_group(facts), true};
}

/// Whether this process has the group; a login from before one was added to it has it not.
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

finding examine_group(const kernel_facts& facts) {
    if (!facts.has_events) {
        return {"group", condition::good, "Without user_events no group is needed.", {}};
    }
    const ::group* found = ::getgrnam(group_name);
    // Whoever may write events anyway needs no group.
    const condition lacking = facts.may_use ? condition::note : condition::missing;
    if (found == nullptr) {
        std::string repair = create_group(facts);
        if (!is_root()) {
            repair += " && " + add_to_group();
        }
        return {"group", lacking, fmt::format("There is no group {}.", group_name),
                std::move(repair), true};
    }
    if (is_root() || has_group(found->gr_gid)) {
        return {"group",
                condition::good,
                is_root() ? fmt::format("There is a group {}; you are root, and do not need it.",
                                        group_name)
                          : fmt::format("You are in the group {}.", group_name),
                {}};
    }
    if (is_member(*found)) {
        return {"group", lacking,
                fmt::format("You have been added to the group {} since you logged in.", group_name),
                fmt::format("newgrp {}", group_name)};
    }
    return {"group", lacking,
            fmt::format("You are not in the group {}. Log in anew after you have been added.",
                        group_name),
            add_to_group(), true};
}

finding examine_boot(const kernel_facts& facts) {
    if (!facts.settings.empty()) {
        return {"boot",
                condition::good,
                fmt::format("{}/{} gives the group {} its permissions at every boot.",
                            facts.settings, settings_name, group_name),
                {}};
    }
    return {"boot",
            facts.has_events ? condition::note : condition::good,
            facts.has_events
                ? fmt::format("Permissions for tracefs are gone with the next boot: no tmpfiles.d/"
                              "{} of eventlog is installed for systemd-tmpfiles.",
                              settings_name)
                : std::string("Without user_events nothing has to be permitted at boot."),
            {}};
}

finding examine_limit(const kernel_facts& facts) {
    constexpr const char* item = "user_events_max";
    const std::optional<std::string> text =
        read_if_possible(core::user_events_limit_path, std::size_t{64});
    std::uint64_t limit = 0;
    if (!text ||
        std::from_chars(text->data(), text->data() + text->size(), limit).ec != std::errc{}) {
        return {item, condition::good, "This kernel has no limit that can be set.", {}};
    }
    // Only root can count them.
    const std::string status =
        read_if_possible(facts.tracefs + "/user_events_status", std::size_t{64} << 20U)
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
        return {
            item, condition::good, fmt::format("The kernel takes {} events{}.", limit, so_far), {}};
    }
    return {item, condition::missing,
            fmt::format("The kernel takes {} events{}: there is no room for more.", limit, so_far),
            fmt::format("sysctl -w kernel.user_events_max={}",
                        std::max<std::uint64_t>(32768, 2 * limit)),
            true};
}

/// What elog record --via perf takes. Without it events can be recorded by the other routes.
finding examine_perf_events(const kernel_facts& facts) {
    constexpr const char* item = "perf_events";
    const std::optional<int> level = perf_event_paranoid();
    if (!level) {
        return {item,
                condition::note,
                "The kernel has no perf events, for elog record --via perf.",
                {}};
    }
    if (!may_read_through_perf(*level)) {
        return {item, condition::note,
                fmt::format("You may not record via perf: perf_event_paranoid is {}, and you lack "
                            "CAP_PERFMON.",
                            *level),
                "sysctl -w kernel.perf_event_paranoid=-1", true};
    }
    if (facts.tracefs.empty()) {
        return {item, condition::note,
                "You may record via perf when tracefs is mounted, which says what events there "
                "are.",
                fmt::format("mount -t tracefs tracefs {}", usual_tracefs), true};
    }
    if (!may_read_events(facts.tracefs)) {
        return {item, condition::note,
                "You may record via perf, but not see in tracefs what events there are.",
                fmt::format("chmod o+x {0} && chmod -R o+rX {0}/events", facts.tracefs), true};
    }
    return {item, condition::good, "You may record via perf: elog record --via perf.", {}};
}

}  // namespace

std::string user_name() {
    const passwd* user = ::getpwuid(::geteuid());
    return user != nullptr ? user->pw_name : std::to_string(::geteuid());
}

void examine_kernel(std::vector<finding>& findings) {
    kernel_facts facts;
    findings.push_back(examine_user_events(facts));
    facts.tracefs = find_tracefs();
    facts.may_search = !facts.tracefs.empty() && is_accessible(facts.tracefs, X_OK);
    facts.settings = find_settings();
    findings.push_back(examine_tracefs(facts));
    findings.push_back(examine_data(facts));
    findings.push_back(examine_group(facts));
    findings.push_back(examine_boot(facts));
    findings.push_back(examine_limit(facts));
    findings.push_back(examine_perf_events(facts));
}

}  // namespace elog
