// SPDX-License-Identifier: MIT
//
// Events that the kernel's tracing keeps, or does something at, after we have ended: what elog
// enable has done, told apart from what others have, and undone.
//
// What says so stands in the kernel itself, in front of the condition of each filter and trigger:
// something that is true of every event. So it goes when the event goes, is there for whoever may
// change it, and no file can be older than the truth.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/event_control.hpp"

namespace elog {

/// What can be done at an event, in the kernel's words.
enum class event_trigger { stacktrace, snapshot, traceoff };

[[nodiscard]] std::optional<event_trigger> find_trigger(std::string_view name) noexcept;
[[nodiscard]] const char* name_of(event_trigger what) noexcept;

/// What we write as a filter. `condition` may be empty: all events.
[[nodiscard]] std::string persistent_filter(const std::string& condition);
/// What we write as a trigger.
[[nodiscard]] std::string persistent_trigger(event_trigger what, const std::string& condition);

/// What of an event's state we have done.
struct persistent_state {
    bool is_ours = false;  // enabled, with a filter of ours; or in the middle of that
    std::string filter{};  // of ours, without what says so; empty: none
    std::vector<std::pair<event_trigger, std::string>> triggers{};  // ours, with their conditions
    bool is_used_by_others = false;  // enabled or filtered by somebody else
};
[[nodiscard]] persistent_state persistent_state_of(const eventlog::tracefs::event_state& state);

/// Has the event kept, or with `what` that done, if `condition` is true for it. Returns what was
/// there before, or nothing if it is so already. Throws failure, with nothing changed, also if
/// others use the event.
[[nodiscard]] std::optional<eventlog::tracefs::event_state> enable_persistent(
    const eventlog::tracefs::event_control& control, const eventlog::tracefs::event_name& event,
    std::optional<event_trigger> what, const std::string& condition);

/// Undoes just that, and nothing that was there `before`. Throws failure.
void undo_enable(const eventlog::tracefs::event_control& control,
                 const eventlog::tracefs::event_name& event, std::optional<event_trigger> what,
                 const eventlog::tracefs::event_state& before);

/// What has become of undoing.
struct disable_result {
    std::vector<std::string> undone{};    // in words; empty: nothing
    std::vector<std::string> mistakes{};  // sentences about what could not be undone
};

/// Undoes all that enable_persistent has ever done, or with `what` only that trigger. What cannot
/// be undone keeps nothing else from it. At an event that has gone there is nothing to undo.
[[nodiscard]] disable_result disable_persistent(const eventlog::tracefs::event_control& control,
                                                const eventlog::tracefs::event_name& event,
                                                std::optional<event_trigger> what);

}  // namespace elog
