// SPDX-License-Identifier: MIT
//
// Creates and ends collectors, and counts.
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <new>

#include <eventlog/collector.h>

#include "collect/collector_region.hpp"
#include "collect/collector_state.hpp"
#include "collect/patterns.hpp"
#include "emit/collectors.hpp"
#include "emit/detach.hpp"
#include "platform/process.hpp"
#include "platform/registry_lock.hpp"
#include "platform/signal_guard.hpp"
#include "provider/registered_provider.hpp"
#include "ring/subscription_slots.hpp"

namespace eventlog::core {
namespace {

static_assert(EVENTLOG_COLLECTORS_MAX == collectors_max);

constexpr std::uint32_t default_buffers = 2;

struct buffer_sizes {
    std::uint32_t count = default_buffers;
    std::uint32_t size = EVENTLOG_BUFFER_SIZE_MIN;
};

eventlog_error check_options(const eventlog_collector_options* options, buffer_sizes& sizes,
                             error_text& error) noexcept {
    if (options == nullptr) {
        return EVENTLOG_ERROR_NONE;
    }
    if (options->size < sizeof *options) {
        error.set("The size in the options is not that of the struct. Set it to sizeof(struct "
                  "eventlog_collector_options).");
        return EVENTLOG_ERROR_SIZE;
    }
    const std::uint32_t count = options->buffers_per_cpu;
    if (count != 0 && (!std::has_single_bit(count) || count < 2 || count > EVENTLOG_BUFFERS_MAX)) {
        error.set("A collector cannot have %u buffers for each CPU. Use a power of two from 2 to "
                  "%u.",
                  count, std::uint32_t{EVENTLOG_BUFFERS_MAX});
        return EVENTLOG_ERROR_COUNT;
    }
    const std::uint64_t size = options->buffer_size;
    if (size != 0 && (!std::has_single_bit(size) || size < EVENTLOG_BUFFER_SIZE_MIN ||
                      size > EVENTLOG_BUFFER_SIZE_MAX)) {
        error.set("A buffer of a collector cannot have %zu bytes. Use a power of two from 128 KiB "
                  "to 32 MiB.",
                  size);
        return EVENTLOG_ERROR_ARGUMENT;
    }
    sizes.count = count == 0 ? sizes.count : count;
    sizes.size = size == 0 ? sizes.size : static_cast<std::uint32_t>(size);
    return EVENTLOG_ERROR_NONE;
}

/// Offsets of the parts of a collector's own memory, which begins with the object.
struct own_layout {
    std::size_t cursors = 0;
    std::size_t providers = 0;
    std::size_t size = 0;

    explicit own_layout(std::uint32_t ring_count) noexcept {
        constexpr std::size_t line = 64;
        const auto behind = [](std::size_t at, std::size_t part) {
            return (at + part + line - 1) / line * line;
        };
        cursors = behind(0, sizeof(eventlog_collector));
        providers = behind(cursors, ring_count * sizeof(ring_cursor));
        size = behind(providers, EVENTLOG_PROVIDERS_MAX * sizeof(collected_provider));
    }
};

/// The slot of a new collector; slots_end if there is none. Under the registry lock.
unsigned find_free_slot() noexcept {
    unmap_dead_regions();
    const std::uint32_t used = mapped_slots() >> first_collector_slot;
    return first_collector_slot + static_cast<unsigned>(std::countr_one(used));
}

/// nullptr if there is no memory. Pages of the table of providers are used when they are needed, so
/// that the table is zero, not constructed.
eventlog_collector* make_collector(unsigned slot, unsigned char* base,
                                   const region_geometry& geometry) noexcept {
    const own_layout layout(geometry.ring_count);
    unsigned char* const memory = map_private(layout.size);
    if (memory == nullptr) {
        return nullptr;
    }
    auto* const cursors = reinterpret_cast<ring_cursor*>(memory + layout.cursors);
    std::uninitialized_value_construct_n(cursors, geometry.ring_count);
    auto* const providers = reinterpret_cast<collected_provider*>(memory + layout.providers);
    return new (memory)
        eventlog_collector(slot, base, geometry, {cursors, geometry.ring_count}, providers);
}

eventlog_error create(const packed_patterns& patterns, const buffer_sizes& sizes,
                      eventlog_collector*& collector, error_text& error) noexcept {
    const signal_guard guard;
    prepare_for_forks();
    const registry_lock lock;
    if (!lock.held()) {
        error.set(
            "A signal handler has interrupted a change of the providers. Create the collector "
            "outside of handlers.");
        return EVENTLOG_ERROR_ARGUMENT;
    }
    prepare_process();
    if (!is_own_process()) {
        error.set("This process was created by _Fork(3), clone(2) or a raw system call, and its "
                  "providers are its parent's. Create it by fork(2), or call exec(3).");
        return EVENTLOG_ERROR_ARGUMENT;
    }
    const unsigned slot = find_free_slot();
    if (slot == slots_end) {
        error.set("There are %u collectors already, or threads still emit to one that was "
                  "destroyed, or a sandbox forbids membarrier(2), which unmapping needs. Destroy "
                  "one and try again, or create the collectors before the sandbox.",
                  collectors_max);
        return EVENTLOG_ERROR_COUNT;
    }
    const region_geometry geometry = plan_private_region(sizes.count, sizes.size);
    unsigned char* const base = make_private_region(geometry, patterns);
    collector = base == nullptr ? nullptr : make_collector(slot, base, geometry);
    if (collector == nullptr) {
        if (base != nullptr) {
            static_cast<void>(::munmap(base, geometry.total_size));
        }
        error.set("There is no memory for a collector with buffers of %u bytes. Free some, or use "
                  "smaller or fewer buffers.",
                  sizes.size);
        return EVENTLOG_ERROR_NO_MEMORY;
    }
    collector->sample = collector->region->clock_start;
    fill_collector_slot(subscription_slots[slot], base, geometry);
    apply_collector_patterns(slot);
    return EVENTLOG_ERROR_NONE;
}

}  // namespace
}  // namespace eventlog::core

eventlog_error eventlog_collector_create(const char* const* patterns, std::size_t count,
                                         const eventlog_collector_options* options,
                                         eventlog_collector** collector, char* text,
                                         std::size_t text_size) {
    using namespace eventlog::core;
    const errno_guard keeps_errno;
    error_text error;
    packed_patterns packed;
    buffer_sizes sizes;
    eventlog_collector* made = nullptr;
    eventlog_error result = EVENTLOG_ERROR_ARGUMENT;
    if (collector == nullptr) {
        error.set("There is no place for the collector. Hand over a pointer to one.");
    } else if (is_disabled_by_environment()) {
        result = EVENTLOG_ERROR_OFF;
        error.set("%s", eventlog_error_text(result));
        *collector = nullptr;
    } else {
        result = check_options(options, sizes, error);
        result =
            result == EVENTLOG_ERROR_NONE ? pack_patterns(patterns, count, packed, error) : result;
        result = result == EVENTLOG_ERROR_NONE ? create(packed, sizes, made, error) : result;
        *collector = made;
    }
    copy_text(error, text, text_size);
    return result;
}

void eventlog_collector_destroy(eventlog_collector* collector) {
    using namespace eventlog::core;
    if (collector == nullptr) {
        return;
    }
    const signal_guard guard;
    const registry_lock lock;
    if (!lock.held()) {
        return;  // in a handler that interrupted the holder; the memory stays
    }
    const std::size_t size = own_layout(collector->geometry.ring_count).size;
    shared(collector->region->state).store(EVENTLOG_REGION_ENDED, std::memory_order_seq_cst);
    detach_collector(collector->slot);
    unmap_dead_regions();
    static_cast<void>(::munmap(collector, size));
}

void eventlog_collector_get_counts(const eventlog_collector* collector,
                                   eventlog_collector_counts* counts, std::size_t counts_size) {
    using namespace eventlog::core;
    if (counts == nullptr) {
        return;
    }
    eventlog_collector_counts sums{};
    if (collector != nullptr) {
        sums.read = collector->read;
        sums.unread = collector->rings.unread();
        sums.lost_full = collector->rings.lost();
        sums.damaged = collector->rings.damaged() + collector->unknown;
        sums.lost_unattached =
            subscription_slots[collector->slot].lost_unattached.load(std::memory_order_relaxed);
        sums.providers_refused =
            shared(collector->region->providers_refused).load(std::memory_order_relaxed);
        const std::uint32_t providers = std::min<std::uint32_t>(
            shared(collector->region->provider_count).load(std::memory_order_relaxed),
            EVENTLOG_PROVIDERS_MAX);
        for (std::uint32_t i = 0; i < providers; ++i) {
            eventlog_provider_entry& entry =
                *subscription_slots[collector->slot].entry(static_cast<std::uint16_t>(i));
            sums.lost_too_large += shared(entry.lost_too_large).load(std::memory_order_relaxed);
            sums.lost_busy += shared(entry.lost_busy).load(std::memory_order_relaxed);
        }
    }
    std::memcpy(counts, &sums, std::min(counts_size, sizeof sums));
}
