// SPDX-License-Identifier: MIT
#include "recorder/default_events.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>

#include <fmt/format.h>

#include "base/user_error.hpp"
#include "memory/running_providers.hpp"

namespace elog {
namespace {

constexpr std::size_t shown_max = 10;

constexpr const char* no_providers = "No running program has events, see: elog list\n";

/// Number of events by the provider's name, the largest one of several versions. Empty if the
/// directory of providers cannot be read: elog list reports that.
std::map<std::string, std::size_t> count_events() {
    std::map<std::string, std::size_t> counts;
    try {
        for (const running_provider& each : find_running_providers().providers) {
            std::size_t& count = counts[each.schema.name];
            count = std::max(count, each.schema.events.size());
        }
    } catch (const user_error&) {
        return {};
    }
    return counts;
}

std::string list_providers() {
    const std::map<std::string, std::size_t> counts = count_events();
    if (counts.empty()) {
        return no_providers;
    }
    std::size_t width = 0;
    for (const auto& [name, count] : counts) {
        width = std::max(width, name.size());
    }
    std::string text = "Running providers:\n";
    std::size_t shown = 0;
    for (const auto& [name, count] : counts) {
        if (shown == shown_max) {
            text += fmt::format("  and {} more: elog list\n", counts.size() - shown);
            break;
        }
        ++shown;
        text += fmt::format("  -e '{}:*'{:{}}  {} {}\n", name, "", width - name.size(), count,
                            count == 1 ? "event" : "events");
    }
    return text;
}

}  // namespace

void complete_events(listening_arguments& arguments, bool has_command,
                     const missing_events& error) {
    if (!arguments.events.empty()) {
        return;
    }
    if (!has_command && arguments.pids.empty() && arguments.process_names.empty()) {
        throw syntax_error(error.sentences, fmt::format("{}Try: {}", list_providers(), error.help));
    }
    arguments.events.emplace_back("*");
}

}  // namespace elog
