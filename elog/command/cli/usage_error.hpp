// SPDX-License-Identifier: MIT
#pragma once

#include "base/user_error.hpp"

namespace elog {

/// The command line asks for something that cannot be. The exit status is 2 then.
class usage_error : public user_error {
  public:
    using user_error::user_error;
};

}  // namespace elog
