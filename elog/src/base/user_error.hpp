// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>
#include <utility>

#include <fmt/core.h>

namespace elog {

/// Something that the user has to know: one sentence that says what is wrong and what to do.
class user_error : public std::runtime_error {
  public:
    template <class... Arguments>
    explicit user_error(fmt::format_string<Arguments...> format, Arguments&&... arguments)
        : std::runtime_error(fmt::format(format, std::forward<Arguments>(arguments)...)) {}
};

}  // namespace elog
