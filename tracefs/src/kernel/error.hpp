// SPDX-License-Identifier: MIT
//
// The errors of this library, written for users.
#pragma once

#include <stdexcept>
#include <string_view>
#include <utility>

#include <fmt/core.h>

namespace eventlog::tracefs {

/// Remedy in messages about missing permissions; without a full stop.
inline constexpr const char* use_root =
    "Run it as root, for example with sudo; elog doctor says how others get the permission";

/// An error for the user: one sentence with the problem and the remedy.
class error : public std::runtime_error {
  public:
    template <class... Arguments>
    explicit error(fmt::format_string<Arguments...> format, Arguments&&... arguments)
        : std::runtime_error(fmt::format(format, std::forward<Arguments>(arguments)...)) {}
};

/// The event has been unregistered, for example because its program has exited.
class event_gone : public error {
  public:
    event_gone(std::string_view system, std::string_view event)
        : error("The kernel has no event {}:{} any more: its program has ended. Start it again.",
                system, event) {}
};

}  // namespace eventlog::tracefs
