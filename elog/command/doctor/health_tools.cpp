// SPDX-License-Identifier: MIT
//
// Programs of others that work with eventlog.
#include <fmt/core.h>

#include "discovery/machine.hpp"
#include "doctor/health.hpp"

namespace elog {
namespace {

void examine_tool(const char* name, const char* package, std::vector<finding>& findings) {
    if (has_program(name)) {
        findings.push_back({name, condition::good, fmt::format("{} is installed.", name), {}});
        return;
    }
    finding absent{name,
                   condition::note,
                   fmt::format("{} is not installed. It is one of the tools that hear what goes "
                               "through the kernel.",
                               name),
                   {}};
    if (has_program("apt-get")) {
        absent.repair = fmt::format("apt-get install {}", package);
        absent.as_root = true;
    }
    findings.push_back(std::move(absent));
}

}  // namespace

void examine_tools(std::vector<finding>& findings) {
    examine_tool("perf", "linux-perf", findings);
    examine_tool("trace-cmd", "trace-cmd", findings);
}

}  // namespace elog
