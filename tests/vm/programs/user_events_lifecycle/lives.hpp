// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include <eventlog/eventlog.hpp>

// The provider of the program, and its gate. Single-threaded.

namespace lifecycle {

struct mark {
    std::uint32_t number;
};
using lives = eventlog::provider<"lives", mark>;

/// The user_events route of the provider.
eventlog::route_status route();

/// Enables or disables the event in tracefs, and waits for its gate.
void set_event_enabled(bool on);

/// The addresses of mappings of files whose path contains `name`; without those from the start of a
/// file unless `with_start`.
std::vector<void*> find_mapped(const char* name, bool with_start = true);

/// The pages of gates, by the name that the files receive after they are mapped.
std::vector<void*> find_gate_pages();

/// Whether the route has counted no loss.
bool is_nothing_lost();

}  // namespace lifecycle
