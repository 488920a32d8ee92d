// SPDX-License-Identifier: MIT
//
// The exception for mistakes on the command line.
#pragma once

#include <utility>

#include "base/user_error.hpp"

namespace elog {

/// The command line requests something impossible. The exit status is 2.
class usage_error : public user_error {
  public:
    using user_error::user_error;
};

/// Calls a function whose user_error is a mistake on the command line.
template <class Function>
decltype(auto) as_usage_error(Function&& function) {
    try {
        return std::forward<Function>(function)();
    } catch (const user_error& error) {
        throw usage_error("{}", error.what());
    }
}

}  // namespace elog
