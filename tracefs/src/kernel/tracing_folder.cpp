// SPDX-License-Identifier: MIT
#include "kernel/tracing_folder.hpp"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "kernel/error.hpp"
#include "kernel/instance_name.hpp"
#include "kernel/kernel_text.hpp"
#include "kernel/libtracefs.h"

namespace eventlog::tracefs {
namespace {

[[noreturn]] void refuse_events(const std::string& what, int number) {
    throw error("{}: {}. {}.", what, std::strerror(number), use_root);
}

/// Returns false if the folder does not exist, for example because its last event was removed.
/// Throws error if it may not be listed, because libtracefs would return an empty list.
bool is_listable(const std::string& folder) {
    if (::access(folder.c_str(), R_OK | X_OK) == 0) {
        return true;
    }
    if (errno != ENOENT) {
        refuse_events(fmt::format("The events in {} cannot be listed", folder), errno);
    }
    return false;
}

/// Whether the known mount point is no longer mounted.
bool is_gone(const std::string& folder) {
    return ::access((folder + "/events").c_str(), F_OK) != 0 && errno == ENOENT;
}

void note_instance(const char* name, void* context) {
    static_cast<std::vector<std::string>*>(context)->emplace_back(name);
}

}  // namespace

std::string find_tracefs() {
    // Cached, because libtracefs allocates each answer and provides no way to free it.
    static std::atomic<const char*> known = nullptr;
    const char* folder = known;
    if (folder == nullptr || is_gone(folder)) {
        folder = eventlog_tracefs_folder();
        known = folder;
    }
    if (folder == nullptr) {
        throw error("tracefs is not mounted. As root: mount -t tracefs nodev /sys/kernel/tracing; "
                    "if the kernel has none, elog doctor says so.");
    }
    return folder;
}

std::vector<event_name> list_events(const std::vector<std::string>& systems) {
    const std::string folder = find_tracefs() + "/events";
    if (!is_listable(folder)) {
        refuse_events(fmt::format("The events in {} cannot be listed", folder), ENOENT);
    }
    std::vector<event_name> found;
    for (const std::string& system : systems) {
        if (is_listable(fmt::format("{}/{}", folder, system))) {
            char** const names = eventlog_tracefs_events(system.c_str());
            for (char** name = names; name != nullptr && *name != nullptr; ++name) {
                found.push_back({system, *name});
            }
            eventlog_tracefs_free_list(names);
        }
    }
    return found;
}

std::optional<std::string> read_format(const event_name& event) {
    std::optional<std::string> text = read_event_file(nullptr, event, "format");
    if (!text && errno != ENOENT && errno != ENODEV) {
        const int number = errno;
        refuse_events(
            fmt::format("What {}:{} looks like cannot be read", event.system, event.event), number);
    }
    return text;
}

std::optional<std::string> read_event_file(tracefs_instance* instance, const event_name& event,
                                           const char* file) {
    return take(
        eventlog_tracefs_read_event(instance, event.system.c_str(), event.event.c_str(), file));
}

bool write_event_filter(tracefs_instance* instance, const event_name& event,
                        const std::string& condition) {
    return eventlog_tracefs_filter(instance, event.system.c_str(), event.event.c_str(),
                                   condition.c_str()) == 0;
}

bool enable_event(tracefs_instance* instance, const event_name& event, bool enabled) {
    return eventlog_tracefs_write_event(instance, event.system.c_str(), event.event.c_str(),
                                        "enable", enabled ? "1" : "0") == 0;
}

bool append_trigger(tracefs_instance* instance, const event_name& event,
                    const std::string& command) {
    return eventlog_tracefs_append_event(instance, event.system.c_str(), event.event.c_str(),
                                         "trigger", command.c_str()) == 0;
}

std::string saved_name(std::uint32_t thread) {
    const std::optional<std::string> list = take(eventlog_tracefs_read(nullptr, "saved_cmdlines"));
    const std::string begin = std::to_string(thread) + ' ';
    for (std::string_view rest = list ? std::string_view(*list) : std::string_view();
         !rest.empty();) {
        const std::string_view line = take_line(rest);
        if (line.starts_with(begin)) {
            return std::string(line.substr(begin.size()));
        }
    }
    return {};
}

std::vector<std::string> remove_dead_instances() {
    static_cast<void>(find_tracefs());  // libtracefs would mount it
    std::vector<std::string> all;
    eventlog_tracefs_instances(note_instance, &all);
    std::vector<std::string> removed;
    for (const std::string& name : all) {
        const std::optional<core::process_identity> owner = instance_owner(name);
        const bool is_dead =
            owner && !core::is_alive(owner->pid, owner->start_time, owner->pid_namespace);
        // Another process may remove or read it at the same time.
        if (is_dead && eventlog_tracefs_destroy_named(name.c_str()) == 0) {
            removed.push_back(name);
        }
    }
    return removed;
}

}  // namespace eventlog::tracefs
