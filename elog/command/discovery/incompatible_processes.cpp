// SPDX-License-Identifier: MIT
#include "discovery/incompatible_processes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "memory/running_directory.hpp"
#include "schema/filter.hpp"
#include "schema/schema.hpp"
#include "shm/process_file.hpp"
#include "shm/process_file_layout.hpp"
#include "terminal/diagnostics.hpp"

namespace elog {
namespace {

namespace core = eventlog::core;

/// A provider whose library does not support all features of this one.
struct incompatible_provider {
    eventlog_process_file process{};
    std::vector<std::uint8_t> schema;
};

std::vector<incompatible_provider> find_incompatible_providers() {
    std::vector<incompatible_provider> found;
    core::directory where;
    const core::directory_path path = core::current_directory();
    core::error_text ignored;
    if (!where.open(path, core::if_missing::fail, ignored)) {
        return found;
    }
    core::folder_listing names(where.processes);
    while (const char* name = names.next()) {
        core::process_file file;
        if (!file.open(where, name, ignored) ||
            core::supports_features(file.header(), EVENTLOG_FEATURES) || !file.is_alive()) {
            continue;
        }
        for (core::published_provider provider(file); provider.next();) {
            std::vector<std::uint8_t> schema(provider.entry().schema_size);
            if (provider.read_schema(schema)) {
                found.push_back({file.header(), std::move(schema)});
            }
        }
    }
    return found;
}

bool wants(std::string_view filter, const incompatible_provider& provider) {
    core::error_text ignored;
    core::schema_reader schema;
    return core::wants_process(filter, provider.process.pid, provider.process.process) &&
           schema.open(provider.schema, ignored) &&
           core::for_each_wanted(schema, filter, [](std::uint16_t, core::verdict) {}) != 0;
}

void warn_one(const std::vector<incompatible_provider>& providers, std::uint32_t features,
              std::string_view filter, const std::string& subscription) {
    std::set<std::uint32_t> processes;
    for (const incompatible_provider& each : providers) {
        if (!core::supports_features(each.process, features) && wants(filter, each)) {
            processes.insert(each.process.pid);
        }
    }
    if (!processes.empty()) {
        print_diagnostic("elog: {} running process{} cannot attach to {}: the library of eventlog "
                         "there is older, and does not support its memory layout. Restart with a "
                         "library of elog's version.",
                         processes.size(), processes.size() == 1 ? "" : "es", subscription);
    }
}

}  // namespace

void warn_incompatible_processes(const eventlog_region& subscription) {
    warn_one(find_incompatible_providers(), subscription.features,
             {&subscription.filter[0],
              std::min<std::size_t>(subscription.filter_size, sizeof subscription.filter)},
             "this subscription");
}

void warn_incompatible_processes(const std::vector<running_subscription>& subscriptions) {
    if (subscriptions.empty()) {
        return;
    }
    const std::vector<incompatible_provider> providers = find_incompatible_providers();
    for (const running_subscription& each : subscriptions) {
        if (!each.has_ended) {
            warn_one(providers, each.features, each.filter,
                     each.name.empty() ? fmt::format("subscription {}", each.slot)
                                       : fmt::format("'{}'", each.name));
        }
    }
}

}  // namespace elog
