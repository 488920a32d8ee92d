// SPDX-License-Identifier: MIT
//
// Current values for completion: events, processes and subscriptions.
#pragma once

#include <vector>

#include "completion/completion_words.hpp"

namespace elog {

/// Running objects of a kind. Empty after an error: the command that is being typed has not run
/// yet, so its errors are not reported.
[[nodiscard]] std::vector<candidate> find_values(value_kind kind);

}  // namespace elog
