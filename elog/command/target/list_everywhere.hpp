// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace elog {

struct everywhere_options {
    std::string glob;
    bool json = false;
    bool stats = false;
};

/// elog list --all: what runs here, and in all other places that can be found, one behind the
/// other. What cannot be told of one of them is said, and the others are shown all the same. Throws
/// usage_failure for what is no pattern, failure if nothing matches it anywhere.
void list_everywhere(const everywhere_options& options);

}  // namespace elog
