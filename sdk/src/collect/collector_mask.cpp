// SPDX-License-Identifier: MIT
//
// Changes which events a collector records.
#include <algorithm>
#include <string_view>

#include <eventlog/collector.h>

#include "collect/collector_region.hpp"
#include "collect/collector_state.hpp"
#include "collect/patterns.hpp"
#include "emit/collectors.hpp"
#include "platform/process.hpp"
#include "platform/registry_lock.hpp"
#include "platform/signal_guard.hpp"
#include "provider/registered_provider.hpp"

namespace eventlog::core {
namespace {

/// The first provider with that name from `provider` on. Under the registry lock.
eventlog_provider* find_provider(eventlog_provider* provider, std::string_view name) noexcept {
    while (provider != nullptr && (provider->event_count.load(std::memory_order_relaxed) == 0 ||
                                   name != provider->name.data())) {
        provider = provider->next;
    }
    return provider;
}

}  // namespace
}  // namespace eventlog::core

eventlog_error eventlog_collector_set_patterns(eventlog_collector* collector,
                                               const char* const* patterns, std::size_t count,
                                               char* text, std::size_t text_size) {
    using namespace eventlog::core;
    const errno_guard keeps_errno;
    error_text error;
    packed_patterns packed;
    eventlog_error result = EVENTLOG_ERROR_ARGUMENT;
    if (collector == nullptr) {
        error.set("There is no collector. Create one.");
    } else {
        result = pack_patterns(patterns, count, packed, error);
    }
    if (result == EVENTLOG_ERROR_NONE) {
        const signal_guard guard;
        const registry_lock lock;
        if (lock.held() && is_own_process()) {
            store_filter(*collector->region, packed);
            apply_collector_patterns(collector->slot);
        } else {
            error.set(
                "The providers are being changed by what a signal handler has interrupted, or "
                "are those of a parent that has not called fork(2). Change the patterns "
                "elsewhere.");
            result = EVENTLOG_ERROR_ARGUMENT;
        }
    }
    copy_text(error, text, text_size);
    return result;
}

std::size_t eventlog_collector_get_mask(const eventlog_collector* collector, const char* provider,
                                        std::uint64_t* words, std::size_t count) {
    using namespace eventlog::core;
    if (collector == nullptr || provider == nullptr || (words == nullptr && count != 0)) {
        return 0;
    }
    const signal_guard guard;
    const registry_lock lock;
    const eventlog_provider* const found =
        lock.held() ? find_provider(get_first_registered(), provider) : nullptr;
    if (found == nullptr) {
        return 0;
    }
    const std::uint32_t events = found->event_count.load(std::memory_order_relaxed);
    std::fill_n(words, count, 0);
    for (std::uint32_t event = 0; event < events && event / 64 < count; ++event) {
        words[event / 64] |= std::uint64_t{is_collected(*found, collector->slot, event)}
                             << event % 64;
    }
    return events;
}

std::size_t eventlog_collector_set_mask(eventlog_collector* collector, const char* provider,
                                        const std::uint64_t* words, std::size_t count) {
    using namespace eventlog::core;
    if (collector == nullptr || provider == nullptr || (words == nullptr && count != 0)) {
        return 0;
    }
    const signal_guard guard;
    const registry_lock lock;
    if (!lock.held() || !is_own_process()) {
        return 0;
    }
    std::size_t events = 0;
    bool is_complete = true;
    for (eventlog_provider* found = find_provider(get_first_registered(), provider);
         found != nullptr; found = find_provider(found->next, provider)) {
        events = std::max<std::size_t>(events, found->event_count);
        is_complete = set_collected(*found, collector->slot, words, count) && is_complete;
    }
    return is_complete ? events : 0;
}

void eventlog_collector_exclude_thread(eventlog_collector* collector, bool is_excluded) {
    if (collector != nullptr) {
        eventlog::core::exclude_thread(collector->slot, collector->region->serial, is_excluded);
    }
}
