// SPDX-License-Identifier: MIT
//
// The providers that running processes have published.
#pragma once

#include <linux/eventlog.h>

#include <cstdint>
#include <string>
#include <vector>

#include "ring/gate_layout.hpp"
#include "schema/provider_schema.hpp"
#include "shm/directory.hpp"

namespace elog {

struct running_provider : provider_instance {
    std::vector<std::uint32_t> gate;      // a word for each event, read at one moment
    eventlog_route_counters counters{};   // events for shared memory
    eventlog_route_counters in_kernel{};  // events for user_events
};

struct running_providers {
    std::vector<running_provider> providers;  // by name, then by process
    std::vector<std::string> complaints;      // about files that could not be read
};

/// All providers in a directory of open_running_directory.
[[nodiscard]] running_providers read_providers(const eventlog::core::directory& where);

/// Sorts by name, then by process.
void sort_providers(std::vector<running_provider>& providers);

/// All providers of running processes; none if the directory does not exist. Throws user_error if
/// it is not usable.
[[nodiscard]] running_providers find_running_providers();

/// The same without gates and counters, numbered from 0.
[[nodiscard]] std::vector<provider_instance> find_running_instances();

/// Their schemas, each once. None if the directory cannot be read: then trace events of programs
/// are shown with the kernel's description.
[[nodiscard]] std::vector<provider_schema> read_published_schemas();

}  // namespace elog
