// SPDX-License-Identifier: MIT
//
// Providers of the kernel and its modules, which publish themselves in no directory: the kernel
// module eventlog tells of them.
#pragma once

#include <vector>

#include "discovery/running_providers.hpp"

namespace elog {

/// Those that the caller may hear; none where there is no such module, or the caller may not ask
/// it. What makes no sense is left out.
[[nodiscard]] std::vector<running_provider> find_kernel_providers();

}  // namespace elog
