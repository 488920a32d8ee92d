// SPDX-License-Identifier: MIT
#pragma once

#include <linux/eventlog.h>

#include <cstdint>
#include <string>
#include <vector>

#include "schema/provider_schema.hpp"
#include "shm/directory.hpp"

namespace elog {

struct running_provider : provider_instance {
    std::vector<std::uint32_t> gate;      // a word for each event, as it was at one moment
    eventlog_route_counters counters{};   // of what went to shared memory
    eventlog_route_counters in_kernel{};  // of what went to user_events
};

struct running_providers {
    std::vector<running_provider> providers;  // by name, then by process
    std::vector<std::string> complaints;      // about files that could not be read
};

/// All providers in the directory, see open_running_directory.
[[nodiscard]] running_providers read_providers(const eventlog::core::directory& where);

/// By name, then by process.
void sort_providers(std::vector<running_provider>& providers);

/// All providers whose processes are alive. Throws failure if the directory is not usable; that it
/// does not exist only means that there are none.
[[nodiscard]] running_providers find_running_providers();

}  // namespace elog
