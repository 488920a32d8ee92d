// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "completion/completion_words.hpp"

namespace elog {

/// What runs now and can be named. Nothing at all if that cannot be found out: somebody who types
/// a command has not asked for it yet, and must not be told why it would fail.
[[nodiscard]] std::vector<candidate> find_values(value_kind kind);

}  // namespace elog
