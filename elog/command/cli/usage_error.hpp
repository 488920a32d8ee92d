// SPDX-License-Identifier: MIT
//
// The exception for mistakes on the command line.
#pragma once

#include "base/user_error.hpp"

namespace elog {

/// The command line requests something impossible. The exit status is 2.
class usage_error : public user_error {
  public:
    using user_error::user_error;
};

}  // namespace elog
