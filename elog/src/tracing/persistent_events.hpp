// SPDX-License-Identifier: MIT
//
// Tracing that continues after elog has exited (`elog kernel enable`): enables events or triggers,
// finds what elog has enabled, and undoes it.
//
// The mark of ownership is in the kernel: a condition that is true for every event, in front of
// each filter and trigger. It is removed with the event, visible to every process that may change
// the event, and cannot be outdated as a file could.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/event_control.hpp"

namespace elog {

/// Actions at an event, by their names in the kernel.
enum class event_trigger { stacktrace, snapshot, traceoff };

[[nodiscard]] std::optional<event_trigger> find_trigger(std::string_view name) noexcept;
[[nodiscard]] const char* name_of(event_trigger what) noexcept;

/// The filter that elog writes. An empty `condition` matches all events.
[[nodiscard]] std::string persistent_filter(const std::string& condition);
/// The trigger that elog writes.
[[nodiscard]] std::string persistent_trigger(event_trigger what, const std::string& condition);

/// What elog has enabled of an event's state.
struct persistent_state {
    bool is_ours = false;  // enabled with a marked filter, or interrupted while enabling it
    std::string filter{};  // without the mark; empty: none
    std::vector<std::pair<event_trigger, std::string>>
        triggers{};                  // marked ones, with their conditions
    bool is_used_by_others = false;  // enabled or filtered by another program
};
[[nodiscard]] persistent_state persistent_state_of(const eventlog::tracefs::event_state& state);

/// Enables the event or, with `what`, the trigger, under `condition`. Returns the state before, or
/// nothing if it is enabled already. Throws user_error, with nothing changed, also if other
/// programs use the event.
[[nodiscard]] std::optional<eventlog::tracefs::event_state> enable_persistent(
    const eventlog::tracefs::event_control& control, const eventlog::tracefs::event_name& event,
    std::optional<event_trigger> what, const std::string& condition);

/// Undoes this one action and keeps what was there `before`. Throws user_error.
void undo_enable(const eventlog::tracefs::event_control& control,
                 const eventlog::tracefs::event_name& event, std::optional<event_trigger> what,
                 const eventlog::tracefs::event_state& before);

/// Result of disable_persistent().
struct disable_result {
    std::vector<std::string> undone{};    // names; empty: nothing was enabled
    std::vector<std::string> mistakes{};  // sentences about what could not be undone
};

/// Undoes everything that enable_persistent() has enabled at the event or, with `what`, only that
/// trigger. An error in one step does not prevent the others. An event that no longer exists needs
/// nothing.
[[nodiscard]] disable_result disable_persistent(const eventlog::tracefs::event_control& control,
                                                const eventlog::tracefs::event_name& event,
                                                std::optional<event_trigger> what);

}  // namespace elog
