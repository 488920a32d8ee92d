// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "provider_schema.hpp"

namespace elog {

struct running_providers {
    std::vector<provider_instance> providers;  // by name, then by process
    std::vector<std::string> complaints;       // about files that could not be read
};

/// All providers in the directory whose processes are alive. Throws failure if the directory is not
/// usable; that it does not exist only means that there are none.
[[nodiscard]] running_providers find_running_providers();

}  // namespace elog
