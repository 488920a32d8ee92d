// SPDX-License-Identifier: MIT
#include "memory/provider_table.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>

#include "base/user_error.hpp"

namespace elog {
namespace {

// Entries of the provider table copied at once.
constexpr std::uint32_t entries_at_once = 64;
static_assert(EVENTLOG_PROVIDERS_MAX % entries_at_once == 0);

}  // namespace

/// A process takes its entry's number first and reserves the memory afterwards, and may fail or die
/// in between. Reading with pread(2) allocates no memory in holes.
void provider_table::read_entries(std::uint32_t first,
                                  std::span<eventlog_provider_entry> entries) const {
    words_.copy(entries.data(), entries.size_bytes(),
                geometry_.providers_offset + first * sizeof(eventlog_provider_entry));
}

void provider_table::read_new(const handler& take) {
    const std::uint32_t count = std::min<std::uint32_t>(
        words_.read_u32(offsetof(eventlog_region, provider_count)), EVENTLOG_PROVIDERS_MAX);
    for (; seen_ < count; ++seen_) {
        unfinished_.push_back(static_cast<std::uint32_t>(seen_));
    }
    std::array<eventlog_provider_entry, entries_at_once> some{};
    std::optional<std::uint32_t> first;  // the first entry in `some`
    std::erase_if(unfinished_, [&](std::uint32_t id) {
        if (first != id - id % entries_at_once) {
            first = id - id % entries_at_once;
            read_entries(*first, some);
        }
        if (some[id % entries_at_once].state != EVENTLOG_PROVIDER_READY) {
            return false;
        }
        // Acquire: entry and schema are complete and are read again after this. Data copied
        // together with the state may be older than the state.
        std::atomic_thread_fence(std::memory_order_acquire);
        if (std::optional<provider_instance> provider = read_provider(id)) {
            take(std::move(*provider));
        }
        return true;
    });
}

std::optional<provider_instance> provider_table::read_provider(std::uint32_t id) const {
    eventlog_provider_entry entry{};
    read_entries(id, {&entry, 1});
    if (entry.schema_size > EVENTLOG_SCHEMA_SIZE_MAX ||
        entry.schema_offset < geometry_.schemas_offset ||
        entry.schema_offset > geometry_.buffers_offset ||
        geometry_.buffers_offset - entry.schema_offset < entry.schema_size) {
        return std::nullopt;
    }
    std::vector<std::uint8_t> bytes(entry.schema_size);
    words_.copy(bytes.data(), bytes.size(), entry.schema_offset);
    try {
        return provider_instance{
            id,
            entry.pid,
            entry.uid,
            std::string(entry.process, ::strnlen(entry.process, sizeof entry.process)),
            provider_schema::parse(bytes),
            entry.start_time,
            entry.parent,
            entry.event_base};
    } catch (const user_error&) {
        return std::nullopt;  // its records are shown as those of an unknown provider
    }
}

std::uint32_t provider_table::refused() const {
    return words_.read_u32(offsetof(eventlog_region, providers_refused));
}

provider_losses provider_table::losses_of(std::uint32_t provider) const {
    eventlog_provider_entry entry{};
    read_entries(provider, {&entry, 1});
    const std::uint64_t begin =
        geometry_.providers_offset + std::uint64_t{provider} * sizeof(eventlog_provider_entry);
    // Most counters are 0 and need no exact read.
    const auto exact = [&](std::uint64_t copied, std::uint64_t offset) {
        return copied == 0 ? 0 : words_.read(begin + offset).value;
    };
    provider_losses losses;
    losses.full = exact(entry.lost_full, offsetof(eventlog_provider_entry, lost_full));
    losses.no_memory =
        exact(entry.lost_no_memory, offsetof(eventlog_provider_entry, lost_no_memory));
    losses.too_large =
        exact(entry.lost_too_large, offsetof(eventlog_provider_entry, lost_too_large));
    losses.busy = exact(entry.lost_busy, offsetof(eventlog_provider_entry, lost_busy));
    losses.truncated = exact(entry.truncated, offsetof(eventlog_provider_entry, truncated));
    return losses;
}

}  // namespace elog
