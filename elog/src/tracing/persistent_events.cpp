// SPDX-License-Identifier: MIT
#include "tracing/persistent_events.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/core.h>

#include "base/user_error.hpp"
#include "kernel/error.hpp"
#include "tracing/kernel_trace_error.hpp"

namespace elog {
namespace {

namespace tracefs = eventlog::tracefs;

// True for every event, because event numbers start above 0.
constexpr std::string_view ownership_marker = "common_type != 0";
constexpr std::string_view mark_and = "common_type != 0 && ";
constexpr std::string_view in_front_of_condition = " if ";
constexpr const char* every_event = "0";  // the filter that matches every event

constexpr std::array<std::pair<std::string_view, event_trigger>, 3> triggers{{
    {"stacktrace", event_trigger::stacktrace},
    {"snapshot", event_trigger::snapshot},
    {"traceoff", event_trigger::traceoff},
}};

/// The condition behind the mark; nothing if there is no mark.
std::optional<std::string> strip_marker(std::string_view text) {
    if (text == ownership_marker) {
        return std::string();
    }
    if (text.starts_with(mark_and)) {
        return std::string(text.substr(mark_and.size()));
    }
    return std::nullopt;
}

/// Parses "stacktrace:unlimited if CONDITION", the form that the kernel prints.
std::optional<std::pair<event_trigger, std::string>> ours_of(std::string_view text) {
    const std::size_t condition = text.find(in_front_of_condition);
    const std::optional<event_trigger> what =
        find_trigger(text.substr(0, text.find_first_of(": ")));
    if (!what || condition == std::string_view::npos) {
        return std::nullopt;
    }
    std::optional<std::string> found =
        strip_marker(text.substr(condition + in_front_of_condition.size()));
    return found ? std::optional(std::pair(*what, std::move(*found))) : std::nullopt;
}

[[noreturn]] void refuse_other(const tracefs::event_control& control,
                               const tracefs::event_name& event, const char* reason) {
    throw user_error("{}:{} {}. Take another --instance, or undo that first, in {}.", event.system,
                     event.event, reason, control.folder_of(event));
}

/// Returns false if the trigger exists already.
bool begin_trigger(const tracefs::event_control& control, const tracefs::event_name& event,
                   const persistent_state& before, event_trigger what,
                   const std::string& condition) {
    for (const auto& [known, its_condition] : before.triggers) {
        if (known == what && its_condition == condition) {
            return false;
        }
        if (known == what) {
            throw user_error(
                "{}:{} has that trigger already, by elog kernel enable, if {}. First: elog "
                "kernel disable --trigger {}",
                event.system, event.event, its_condition.empty() ? "it comes" : its_condition,
                name_of(what));
        }
    }
    control.trigger(event, persistent_trigger(what, condition));
    return true;
}

/// Restores the state before. The filter is last, because it carries the mark.
void end_capture(const tracefs::event_control& control, const tracefs::event_name& event,
                 const std::string& filter) {
    control.enable(event, false);
    control.filter(event, filter.empty() ? every_event : filter);
}

void end_trigger(const tracefs::event_control& control, const tracefs::event_name& event,
                 event_trigger what) {
    control.trigger(event, fmt::format("!{}", name_of(what)));
}

/// Returns false if the event is recorded already.
bool begin_capture(const tracefs::event_control& control, const tracefs::event_name& event,
                   const tracefs::event_state& state, const persistent_state& before,
                   const std::string& condition) {
    if (before.is_used_by_others) {
        refuse_other(control, event,
                     state.is_enabled ? "is enabled already, and not by elog kernel enable"
                                      : "has a filter already");
    }
    // A marked event that another program has disabled records nothing, so it is enabled again.
    if (before.is_ours && state.is_enabled && before.filter != condition) {
        throw user_error(
            "{}:{} is enabled already, by elog kernel enable, if {}. First: elog kernel disable",
            event.system, event.event, before.filter.empty() ? "it comes" : before.filter);
    }
    if (before.is_ours && state.is_enabled) {
        return false;
    }
    control.filter(event, persistent_filter(condition));
    try {
        control.enable(event, true);
    } catch (const tracefs::error&) {
        end_capture(control, event, state.filter);
        throw;
    }
    return true;
}

}  // namespace

std::optional<event_trigger> find_trigger(std::string_view name) noexcept {
    const auto* const found = std::find_if(triggers.begin(), triggers.end(),
                                           [&](const auto& each) { return each.first == name; });
    return found == triggers.end() ? std::nullopt : std::optional(found->second);
}

const char* name_of(event_trigger what) noexcept {
    const auto* const found = std::find_if(triggers.begin(), triggers.end(),
                                           [&](const auto& each) { return each.second == what; });
    return found->first.data();
}

std::string persistent_filter(const std::string& condition) {
    return condition.empty() ? std::string(ownership_marker) : std::string(mark_and) + condition;
}

std::string persistent_trigger(event_trigger what, const std::string& condition) {
    return fmt::format("{}{}{}", name_of(what), in_front_of_condition,
                       persistent_filter(condition));
}

persistent_state persistent_state_of(const tracefs::event_state& state) {
    persistent_state found;
    if (std::optional<std::string> condition = strip_marker(state.filter)) {
        found.is_ours = true;
        found.filter = std::move(*condition);
    } else {
        found.is_used_by_others = state.is_enabled || !state.filter.empty();
    }
    for (const std::string& trigger : state.triggers) {
        if (auto ours = ours_of(trigger)) {
            found.triggers.push_back(std::move(*ours));
        }
    }
    return found;
}

std::optional<tracefs::event_state> enable_persistent(const tracefs::event_control& control,
                                                      const tracefs::event_name& event,
                                                      std::optional<event_trigger> what,
                                                      const std::string& condition) {
    return convert_tracefs_errors([&] {
        const tracefs::event_state state = control.state_of(event);
        const persistent_state before = persistent_state_of(state);
        const bool is_new = what ? begin_trigger(control, event, before, *what, condition)
                                 : begin_capture(control, event, state, before, condition);
        return is_new ? std::optional(state) : std::nullopt;
    });
}

void undo_enable(const tracefs::event_control& control, const tracefs::event_name& event,
                 std::optional<event_trigger> what, const tracefs::event_state& before) {
    convert_tracefs_errors([&] {
        if (what) {
            end_trigger(control, event, *what);
        } else {
            end_capture(control, event, before.filter);
        }
    });
}

disable_result disable_persistent(const tracefs::event_control& control,
                                  const tracefs::event_name& event,
                                  std::optional<event_trigger> what) {
    disable_result end;
    const auto attempt = [&](const auto& step) {
        try {
            step();
        } catch (const tracefs::event_gone&) {  // together with what was enabled there
        } catch (const tracefs::error& mistake) {
            end.mistakes.emplace_back(mistake.what());
        }
    };
    persistent_state before;
    attempt([&] { before = persistent_state_of(control.state_of(event)); });
    if (before.is_ours && !what) {
        attempt([&] {
            end_capture(control, event, every_event);
            end.undone.emplace_back("enabled");
        });
    }
    for (const auto& each : before.triggers) {
        if (!what || each.first == *what) {
            attempt([&] {
                end_trigger(control, event, each.first);
                end.undone.emplace_back(name_of(each.first));
            });
        }
    }
    return end;
}

}  // namespace elog
