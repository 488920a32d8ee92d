// SPDX-License-Identifier: MIT
#include "recording_route.hpp"

#include "tracing.hpp"
#include "usage_failure.hpp"

namespace elog {

void add_route_option(subcommand& command, std::optional<std::string>& via) {
    command.add_option("--via", via, "Where events come from: memory, device, tracefs or perf")
        .value_name("ROUTE")
        .one_of({"memory", "device", "tracefs", "perf"});
}

recording_route parse_route(const std::optional<std::string>& via,
                            const listening_arguments& arguments) {
    if (!via || *via == "memory") {
        return recording_route::memory;
    }
    if (*via == "device") {
        return recording_route::device;
    }
    if (*via == "tracefs") {
        check_tracing(arguments);
        return recording_route::tracefs;
    }
    if (*via == "perf") {
        check_tracing(arguments);
        return recording_route::perf;
    }
    throw usage_failure("Events come via memory, device, tracefs or perf, and not via '{}'.", *via);
}

}  // namespace elog
