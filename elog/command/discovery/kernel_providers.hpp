// SPDX-License-Identifier: MIT
//
// Providers of the kernel and its modules, as the kernel module eventlog reports them. They have no
// file in a directory.
#pragma once

#include <vector>

#include "memory/running_providers.hpp"

namespace elog {

/// The providers that the caller may listen to; none without the module or without permission to
/// ask it. Invalid ones are left out.
[[nodiscard]] std::vector<running_provider> find_kernel_providers();

}  // namespace elog
