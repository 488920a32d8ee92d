// SPDX-License-Identifier: MIT
#pragma once

#include "base/failure.hpp"

namespace elog {

/// The command line asks for something that cannot be. The exit status is 2 then.
class usage_failure : public failure {
  public:
    using failure::failure;
};

}  // namespace elog
