// SPDX-License-Identifier: MIT
#include "recording_route.hpp"

#include <cstddef>

#include "failure.hpp"
#include "usage_failure.hpp"

namespace elog {

recording_route parse_route(const std::optional<std::string>& via) {
    if (!via || *via == "memory") {
        return recording_route::memory;
    }
    if (*via == "device") {
        return recording_route::device;
    }
    if (*via == "tracefs") {
        return recording_route::tracefs;
    }
    throw usage_failure("Events come via memory, device or tracefs, and not via '{}'.", *via);
}

void check_met_in_kernel(const event_patterns& patterns, const std::vector<bool>& met,
                         const char* advice) {
    for (std::size_t i = 0; i < patterns.size(); ++i) {
        if (!met[i]) {
            throw failure("The kernel has no event that matches '{}'. {}", patterns[i], advice);
        }
    }
}

}  // namespace elog
