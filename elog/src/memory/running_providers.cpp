// SPDX-License-Identifier: MIT
#include "memory/running_providers.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "base/user_error.hpp"
#include "memory/running_directory.hpp"
#include "provider/counters.hpp"
#include "shm/process_file.hpp"
#include "shm/process_file_layout.hpp"

namespace elog {
namespace {

namespace core = eventlog::core;

/// Returns nothing if the provider was unregistered meanwhile. Throws user_error for a damaged
/// file.
std::optional<running_provider> read_provider(const core::published_provider& published) {
    const eventlog_process_file& process = published.process();
    std::vector<std::uint8_t> bytes(published.entry().schema_size);
    running_provider provider;
    provider.gate.resize(published.entry().event_count);
    eventlog_counters_page counters{};
    if (!published.read_schema(bytes) || !published.read_gate(provider.gate) ||
        !published.read_counters(counters)) {
        return std::nullopt;
    }
    provider.counters = core::sum_counters(counters, EVENTLOG_COUNTERS_MEMORY);
    for (const std::uint32_t early : published.entry().early) {
        provider.counters.lost_unattached += early & ~EVENTLOG_EARLY_LISTENS;
    }
    provider.in_kernel = core::sum_counters(counters, EVENTLOG_COUNTERS_USER_EVENTS);
    provider.pid = process.pid;
    provider.uid = process.uid;
    provider.process = static_cast<const char*>(process.process);
    provider.schema = provider_schema::parse(bytes);
    // In an inconsistent file an event may have no word; then it has no listeners.
    provider.gate.resize(provider.schema.events.size());
    return provider;
}

}  // namespace

running_providers read_providers(const core::directory& where) {
    running_providers found;
    core::error_text error;
    core::folder_listing names(where.processes);
    while (const char* name = names.next()) {
        core::process_file file;
        if (!file.open(where, name, error)) {
            found.complaints.emplace_back(error.text().c_str());
            continue;
        }
        core::published_provider published(file);
        while (published.next()) {
            try {
                if (std::optional<running_provider> provider = read_provider(published)) {
                    found.providers.push_back(std::move(*provider));
                }
            } catch (const user_error& damage) {
                found.complaints.push_back(fmt::format("{}: {}", name, damage.what()));
            }
        }
        if (published.damaged() != 0) {
            found.complaints.push_back(
                fmt::format("The process file {} has damaged entries ({}). Restart its program.",
                            name, published.damaged()));
        }
    }
    sort_providers(found.providers);
    return found;
}

void sort_providers(std::vector<running_provider>& providers) {
    std::sort(providers.begin(), providers.end(), [](const auto& a, const auto& b) {
        return std::tie(a.schema.name, a.process, a.pid) <
               std::tie(b.schema.name, b.process, b.pid);
    });
}

running_providers find_running_providers() {
    const std::optional<core::directory> where = open_running_directory();
    return where ? read_providers(*where) : running_providers{};
}

std::vector<provider_instance> find_running_instances() {
    std::vector<provider_instance> all;
    for (running_provider& each : find_running_providers().providers) {
        all.push_back(std::move(each));
        all.back().id = static_cast<std::uint16_t>(all.size() - 1);
    }
    return all;
}

std::vector<provider_schema> read_published_schemas() {
    std::vector<provider_schema> schemas;
    try {
        for (provider_instance& provider : find_running_providers().providers) {
            add_unique(schemas, std::move(provider.schema));
        }
    } catch (const user_error&) {
    }
    return schemas;
}

}  // namespace elog
