// SPDX-License-Identifier: MIT
#include "cli/clock_option.hpp"

#include "cli/usage_error.hpp"

namespace elog {

void add_clock_option(subcommand& command, std::optional<std::string>& clock) {
    command
        .add_option("--clock CLOCK", clock,
                    "Print times on that clock: realtime, monotonic, boottime or tai")
        .one_of({"realtime", "monotonic", "boottime", "tai"});
}

display_clock parse_clock(const std::optional<std::string>& clock) {
    if (!clock || *clock == "realtime") {
        return display_clock::realtime;
    }
    if (*clock == "monotonic") {
        return display_clock::monotonic;
    }
    if (*clock == "boottime") {
        return display_clock::boottime;
    }
    if (*clock == "tai") {
        return display_clock::tai;
    }
    throw usage_error("'{}' is no clock. Use realtime, monotonic, boottime or tai.", *clock);
}

}  // namespace elog
