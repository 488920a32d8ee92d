// SPDX-License-Identifier: MIT
//
// The exception for errors that a command reports to its user.
#pragma once

#include <stdexcept>
#include <utility>

#include <fmt/core.h>

namespace elog {

/// Its message is complete sentences for the user: what happened, to which object, and the remedy.
class user_error : public std::runtime_error {
  public:
    template <class... Arguments>
    explicit user_error(fmt::format_string<Arguments...> format, Arguments&&... arguments)
        : std::runtime_error(fmt::format(format, std::forward<Arguments>(arguments)...)) {}
};

}  // namespace elog
