// SPDX-License-Identifier: MIT
//
// Counts of a recording: events and losses, in total, by ring and by provider.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace elog {

struct ring_totals {
    std::uint64_t read = 0;  // records
    std::uint64_t bytes = 0;
    std::uint64_t lost = 0;         // the ring was full
    std::uint64_t damaged = 0;      // invalid records
    std::uint64_t overwritten = 0;  // by newer records
    std::uint64_t unwritten = 0;    // read, but the file had no space, or was removed
};

/// Losses that a provider's process counted.
struct provider_losses {
    std::uint64_t full = 0;       // included in ring_totals::lost
    std::uint64_t no_memory = 0;  // of `full`: the shared ring got no memory
    std::uint64_t too_large = 0;
    std::uint64_t busy = 0;
    std::uint64_t unattached = 0;  // by a process that was not attached (yet)
    std::uint64_t refused = 0;     // by the kernel
    std::uint64_t truncated = 0;   // not lost: recorded with shorter texts
};

/// Losses of one provider of one process.
struct lossy_provider {
    std::string provider;
    std::string process;
    std::uint32_t pid = 0;
    provider_losses lost{};
};

struct recording_summary {
    std::uint64_t events = 0;
    std::uint64_t bytes = 0;
    // full + too_large + busy + unattached + refused + damaged + unwritten
    std::uint64_t lost = 0;
    std::uint64_t full = 0;         // the ring was full
    std::uint64_t no_memory = 0;    // of `full`: the shared ring got no memory
    std::uint64_t too_large = 0;    // over the largest record
    std::uint64_t busy = 0;         // the shared ring was locked by another writer
    std::uint64_t unattached = 0;   // by processes that were not attached (yet)
    std::uint64_t refused = 0;      // by the kernel
    std::uint64_t damaged = 0;      // invalid records
    std::uint64_t unwritten = 0;    // the same, see count_unwritten
    std::uint64_t overwritten = 0;  // not in `lost`: replaced by newer records
    std::uint64_t truncated = 0;    // not lost: recorded with shorter texts
    std::uint32_t providers_refused = 0;
    bool has_impossible_counts = false;  // a program has overwritten counts; they are left out
    bool has_unread_losses = false;      // of more programs than can be read, at their ends
    // Of the recording; none for a snapshot, which copies events of an unknown time.
    std::optional<std::chrono::duration<double>> elapsed{};
    std::vector<ring_totals> rings{};               // by ring, the shared ring last
    std::vector<lossy_provider> lossy_providers{};  // filled at the end
};

}  // namespace elog
