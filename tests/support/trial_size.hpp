// SPDX-License-Identifier: MIT
//
// How often a trial is made: seldom in a run of all tests, as often as somebody asks by hand.
#pragma once

#include <cstdint>
#include <cstdlib>

#include "build_kind.hpp"

namespace eventlog::test {

/// The number in that environment variable; without one `usual`, and a tenth of it where everything
/// is slow.
inline std::uint64_t trial_size(const char* variable, std::uint64_t usual) {
    const char* const asked = std::getenv(variable);
    if (asked != nullptr) {
        return std::strtoull(asked, nullptr, 10);
    }
    return is_slow_run() ? usual / 10 : usual;
}

}  // namespace eventlog::test
