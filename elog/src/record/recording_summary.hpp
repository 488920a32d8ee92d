// SPDX-License-Identifier: MIT
//
// The counts of a recording: events and losses, of each ring and of each provider.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace elog {

/// What a ring has lost that no record follows, and what its readers could not make sense of.
struct ring_totals {
    std::uint64_t read = 0;  // records
    std::uint64_t bytes = 0;
    std::uint64_t lost = 0;     // found no room; told before a record, or at the end
    std::uint64_t damaged = 0;  // records that were there but made no sense
    std::uint64_t overwritten =
        0;  // newer ones took their place; told before a record or at the end
};

/// Losses that a provider's process counted.
struct provider_losses {
    std::uint64_t full = 0;       // included in ring_totals::lost
    std::uint64_t no_memory = 0;  // of these: the shared ring got no memory
    std::uint64_t too_large = 0;
    std::uint64_t busy = 0;
    std::uint64_t cut = 0;  // not lost: written with shorter texts
};

/// What one provider of a program has lost.
struct lossy_provider {
    std::string provider;
    std::string process;
    std::uint32_t pid = 0;
    provider_losses lost{};
};

struct recording_summary {
    std::uint64_t events = 0;
    std::uint64_t bytes = 0;
    std::uint64_t lost = 0;         // all of these:
    std::uint64_t full = 0;         // found no room
    std::uint64_t no_memory = 0;    // of these: the shared ring got no memory
    std::uint64_t too_large = 0;    // over the largest record
    std::uint64_t busy = 0;         // the shared ring was held by others
    std::uint64_t damaged = 0;      // made no sense
    std::uint64_t overwritten = 0;  // not in `lost`: newer ones took their place
    std::uint64_t cut = 0;          // not lost: recorded with shorter texts
    std::uint32_t providers_refused = 0;
    std::chrono::duration<double> elapsed{};
    std::vector<ring_totals> rings{};               // in their order, that of no CPU last
    std::vector<lossy_provider> lossy_providers{};  // at the end, those that have lost any
};

}  // namespace elog
