// SPDX-License-Identifier: MIT
#include "user_events_lifecycle/lives.hpp"

#include <array>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "steps.hpp"

namespace lifecycle {

eventlog::route_status route() {
    return lives::status().routes[EVENTLOG_ROUTE_USER_EVENTS];
}

void set_event_enabled(bool on) {
    ::set_event_enabled("lives_mark", on);
    step(on ? "the gate opens" : "the gate closes",
         wait_until([&] { return lives::enabled<mark>() == on; }));
}

std::vector<void*> find_mapped(const char* name, bool with_start) {
    FILE* maps = std::fopen("/proc/self/maps", "r");
    std::array<char, 512> line{};
    std::vector<void*> found;
    while (maps != nullptr && std::fgets(line.data(), line.size(), maps) != nullptr) {
        std::uintptr_t address = 0;
        unsigned long long offset = 0;
        if (std::strstr(line.data(), name) != nullptr &&
            std::sscanf(line.data(), "%" SCNxPTR "-%*s %*s %llx", &address, &offset) == 2 &&
            (with_start || offset != 0)) {
            found.push_back(reinterpret_cast<void*>(address));
        }
    }
    if (maps != nullptr) {
        static_cast<void>(std::fclose(maps));
    }
    return found;
}

std::vector<void*> find_gate_pages() {
    // The first page of the file is mapped as well.
    return find_mapped("/processes/", false);
}

bool is_nothing_lost() {
    const auto counters = route().counters;
    return counters.lost_refused == 0 && counters.lost_unattached == 0 &&
           counters.lost_too_large == 0;
}

}  // namespace lifecycle
