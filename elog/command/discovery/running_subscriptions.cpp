// SPDX-License-Identifier: MIT
#include "discovery/running_subscriptions.hpp"

#include <linux/eventlog.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/user_error.hpp"
#include "cli/whole_files.hpp"
#include "platform/process.hpp"
#include "schema/stored_filter.hpp"
#include "shm/subscription_file.hpp"

namespace elog {
namespace {

namespace core = eventlog::core;

/// The process name in the kernel. Empty if the process has just ended or is in another pid
/// namespace, where its number is that of a different process here.
std::string name_of_owner(const eventlog_region& header) {
    if (header.owner_pid_namespace != core::own_pid_namespace()) {
        return {};
    }
    try {
        std::string name = read_file_up_to(fmt::format("/proc/{}/comm", header.owner_pid),
                                           EVENTLOG_PROCESS_NAME_SIZE);
        if (name.ends_with('\n')) {
            name.pop_back();
        }
        return name;
    } catch (const user_error&) {
        return {};
    }
}

std::uint64_t memory_of(const core::subscription_file& file) {
    struct stat status {};
    return ::fstat(file.file().get(), &status) == 0
               ? static_cast<std::uint64_t>(status.st_blocks) * 512
               : 0;
}

}  // namespace

std::vector<std::string> running_subscription::rules() const {
    return sampled_rules(unpack_filter(filter));
}

std::vector<std::string> running_subscription::processes() const {
    return unpack_filter(filter).processes;
}

std::uint64_t running_subscription::max_rate() const {
    return unpack_filter(filter).sampling.max_rate;
}

std::vector<running_subscription> read_subscriptions(const core::directory& where,
                                                     std::vector<std::string>& complaints) {
    std::vector<running_subscription> found;
    for (unsigned slot = 0; slot < EVENTLOG_SUBSCRIPTIONS_MAX; ++slot) {
        core::subscription_file file;
        core::error_text error;
        const core::subscription_file::found result = file.open(where, slot, error);
        if (result == core::subscription_file::found::unreadable ||
            result == core::subscription_file::found::unusable) {
            complaints.emplace_back(error.text().c_str());
        }
        if (result != core::subscription_file::found::usable || !file.has_owner()) {
            continue;
        }
        const bool is_flight_recorder = core::is_detached(file.header());
        if (!is_flight_recorder && file.has_ended()) {
            continue;
        }
        // open() has copied and checked the header, except for the number of sessions.
        const eventlog_region& header = file.header();
        running_subscription& added = found.emplace_back();
        added.slot = slot;
        added.pid = header.owner_pid;
        added.name =
            is_flight_recorder ? &header.name[0] : "";  // open() has checked the terminating NUL
        added.has_ended = file.has_ended();
        added.is_paused = file.is_paused();
        added.features = header.features;
        added.overwrites = core::overwrites(header);
        added.memory = memory_of(file);
        if (added.name.empty()) {
            added.process = name_of_owner(header);
        }
        added.filter.assign(header.filter, header.filter_size);
        added.sessions.assign(
            header.sessions,
            header.sessions + std::min<std::uint32_t>(header.session_count, EVENTLOG_SESSIONS_MAX));
    }
    return found;
}

}  // namespace elog
