// SPDX-License-Identifier: MIT
//
// The folder of tracefs: where it is mounted, which events and instances it has, and the files of
// an event.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

struct tracefs_instance;

namespace eventlog::tracefs {

struct event_name {
    std::string system;
    std::string event;
};

/// The mount point of tracefs. Throws error if it is not mounted.
[[nodiscard]] std::string find_tracefs();

/// All events of these systems; unknown systems have none. Throws error if tracefs may not be read.
[[nodiscard]] std::vector<event_name> list_events(const std::vector<std::string>& systems);

/// The content of an event's file `format`; nothing if the event no longer exists. Throws error.
[[nodiscard]] std::optional<std::string> read_format(const event_name& event);

/// The name that the kernel has saved for a thread that may have exited; empty if unknown.
[[nodiscard]] std::string saved_name(std::uint32_t thread);

/// Removes the instances of dead owners and returns their names. Throws error if tracefs is not
/// mounted.
std::vector<std::string> remove_dead_instances();

// The files of an event in an instance; nullptr: the top one. On failure errno has the reason.
[[nodiscard]] std::optional<std::string> read_event_file(tracefs_instance* instance,
                                                         const event_name& event, const char* file);
/// Also disables the event's filter if the kernel refuses the new one.
[[nodiscard]] bool write_event_filter(tracefs_instance* instance, const event_name& event,
                                      const std::string& condition);
[[nodiscard]] bool enable_event(tracefs_instance* instance, const event_name& event, bool enabled);
/// Appends, because a write that truncates would remove the other triggers.
[[nodiscard]] bool append_trigger(tracefs_instance* instance, const event_name& event,
                                  const std::string& command);

}  // namespace eventlog::tracefs
