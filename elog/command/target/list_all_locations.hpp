// SPDX-License-Identifier: MIT
//
// The option --all of elog list.
#pragma once

#include <string>

namespace elog {

struct list_all_options {
    std::string glob;
    bool json = false;
    bool stats = false;
};

/// Lists the programs of this place and of all other places that can be found, one place after the
/// other. An error at one place is reported and does not affect the others. Throws usage_error for
/// an invalid pattern, and user_error if nothing matches it anywhere.
void list_all_locations(const list_all_options& options);

}  // namespace elog
