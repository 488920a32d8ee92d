// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>
#include <utility>

#include <fmt/core.h>

namespace bench {

/// The reason why there are no figures: one sentence with the fault and the remedy.
class failure : public std::runtime_error {
  public:
    template <class... Arguments>
    explicit failure(fmt::format_string<Arguments...> format, Arguments&&... arguments)
        : std::runtime_error(fmt::format(format, std::forward<Arguments>(arguments)...)) {}
};

}  // namespace bench
