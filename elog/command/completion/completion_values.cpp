// SPDX-License-Identifier: MIT
#include "completion/completion_values.hpp"

#include <exception>
#include <set>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "discovery/catalogue.hpp"

namespace elog {
namespace {

void add_event_candidates(std::vector<candidate>& values, const catalogue_provider& provider) {
    const provider_schema& schema = provider.schema;
    values.push_back({schema.name + ":*", "All events of " + schema.name});
    for (const catalogue_event& event : provider.events) {
        const event_schema& known = schema.events[event.id];
        values.push_back({schema.name + ":" + known.name, known.description});
    }
}

std::vector<candidate> look_up(value_kind kind) {
    const catalogue found = collect_catalogue("");
    std::vector<candidate> values;
    for (const catalogue_provider& provider : found.providers) {
        if (kind == value_kind::event) {
            add_event_candidates(values, provider);
        } else if (kind == value_kind::source) {
            values.push_back({provider.schema.name, provider.schema.description});
        }
        for (const catalogue_process& process : provider.processes) {
            if (process.pid == 0) {  // the kernel
                continue;
            }
            if (kind == value_kind::process) {
                values.push_back({fmt::format("{}", process.pid), process.name});
            } else if (kind == value_kind::process_name) {
                values.push_back({process.name, ""});
            }
        }
    }
    for (const running_subscription& subscription : found.subscriptions) {
        if (kind == value_kind::subscription && !subscription.name.empty()) {
            values.push_back({subscription.name, subscription.overwrites
                                                     ? "Keeps the newest events"
                                                     : "Keeps the first events"});
        }
    }
    return values;
}

}  // namespace

std::vector<candidate> find_values(value_kind kind) {
    std::vector<candidate> values;
    try {
        values = look_up(kind);
    } catch (const std::exception&) {
        return {};
    }
    // A process may have several providers, and a provider several schemas.
    std::set<std::string> seen;
    std::vector<candidate> each_once;
    for (candidate& value : values) {
        if (seen.insert(value.word).second) {
            each_once.push_back(std::move(value));
        }
    }
    return each_once;
}

}  // namespace elog
