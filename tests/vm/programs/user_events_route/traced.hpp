// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <eventlog/dynamic_provider.hpp>
#include <eventlog/eventlog.hpp>

// The provider of the program, and how tracefs shows its events. Single-threaded.

namespace route_steps {

enum class color : std::uint16_t { red, green, blue };

struct sample {
    std::uint64_t number;
    std::string_view why;
    std::int32_t below;
    std::uint16_t port;
    color paint;
    bool yes;
    std::array<char, 8> tag;
    std::optional<std::uint32_t> maybe;
    double share;
};
struct word {
    std::string_view text;
};
struct in_session {
    std::uint32_t step;
};
struct silent {
    std::uint32_t number;
};
struct empty {};

using traced = eventlog::provider<"traced", sample, word, in_session, silent, empty>;

}  // namespace route_steps

template <>
inline constexpr eventlog::event_info eventlog::event_info_of<route_steps::in_session>{
    .session_bound = true};

namespace route_steps {

/// Whether the kernel has a page of status bits.
extern const bool has_page;

/// The user_events route of the provider, or of another one.
eventlog::route_status route();
eventlog::route_status route_of(const eventlog::dynamic_provider& provider);

/// Prints the trace between two lines that the test finds, and clears it.
void show_trace(const char* title);

/// Prints the kernel's format of an event.
void show_format(const std::string& name);

/// Removes an event on kernels with a page, which requires that the event has no users.
void remove_event(std::string_view name);

/// Checks that the event is removed after its last user, by the test on kernels with a page.
void expect_removed(std::string_view name);

}  // namespace route_steps
