// SPDX-License-Identifier: MIT
//
// expect: nodiscard
//
// An object without a name ends at once.
#include <eventlog/dynamic_provider.hpp>

#pragma GCC diagnostic error "-Wunused-result"
#pragma GCC diagnostic error "-Wunused-value"

void define(const eventlog_definition* definition) {
    eventlog::dynamic_provider(static_cast<const eventlog_definition&>(*definition));
}
