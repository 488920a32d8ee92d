// SPDX-License-Identifier: MIT
//
// Programs of others that work with eventlog.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include "health.hpp"

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

bool has_program(const std::string& name) {
    const char* path = std::getenv("PATH");
    std::string folders = path == nullptr ? "" : path;
    folders += ":/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin";
    for (std::size_t begin = 0; begin <= folders.size();) {
        const std::size_t end = std::min(folders.find(':', begin), folders.size());
        const std::string folder = folders.substr(begin, end - begin);
        if (folder.starts_with('/') &&
            ::access(fmt::format("{}/{}", folder, name).c_str(), X_OK) == 0) {
            return true;
        }
        begin = end + 1;
    }
    return false;
}

void examine_tools(std::vector<finding>& findings) {
    examine_tool("perf", "linux-perf", findings);
    examine_tool("trace-cmd", "trace-cmd", findings);
}

}  // namespace elog
