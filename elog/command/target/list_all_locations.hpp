// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace elog {

struct list_all_options {
    std::string glob;
    bool json = false;
    bool stats = false;
};

/// elog list --all: what runs here, and in all other places that can be found, one behind the
/// other. What cannot be told of one of them is said, and the others are shown all the same. Throws
/// usage_error for what is no pattern, failure if nothing matches it anywhere.
void list_all_locations(const list_all_options& options);

}  // namespace elog
