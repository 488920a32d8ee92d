// SPDX-License-Identifier: MIT
//
// The number of repetitions of a trial: small in a run of all tests, larger by an environment
// variable.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "build_kind.hpp"

namespace eventlog::test {

/// A long run of all tests.
inline bool is_full_tier() {
    const char* const tier = std::getenv("EVENTLOG_TEST_TIER");
    return tier != nullptr && std::string_view(tier) == "full";
}

/// The number in the environment variable; without one `usual`, or a tenth of it in slow builds.
inline std::uint64_t trial_size(const char* variable, std::uint64_t usual) {
    const char* const asked = std::getenv(variable);
    if (asked != nullptr) {
        return std::strtoull(asked, nullptr, 10);
    }
    return is_slow_run() ? usual / 10 : usual;
}

}  // namespace eventlog::test
