// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "shm/directory.hpp"

namespace elog {

/// The directory in which programs and consumers meet, without what the dead have left there.
/// Nothing if there is none: then nobody has published anything. Throws failure if it is not
/// usable.
[[nodiscard]] std::optional<eventlog::core::directory> open_running_directory();

}  // namespace elog
