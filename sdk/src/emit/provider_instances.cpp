// SPDX-License-Identifier: MIT
#include "emit/provider_instances.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

#include "platform/permanent_memory.hpp"
#include "platform/process.hpp"
#include "platform/startup_section.hpp"
#include "provider/runtime_definition.hpp"
#include "ring/gate_layout.hpp"

namespace eventlog::core {
namespace {

[[EVENTLOG_STARTUP_SECTION]] constinit eventlog_provider* first_free = nullptr;

/// Memory for an instance, never freed. The first instances are static: they are unloaded with a
/// plugin that contains this library.
void* allocate_instance() noexcept {
    constexpr std::size_t own_max = 8;
    constexpr std::size_t rare_parts =
        sizeof(attachment_list) + sizeof(listener_serials) +
        EVENTLOG_EVENTS_MAX * (sizeof(std::uint16_t) + 2 * sizeof(std::uint32_t));
    static_assert(own_max * rare_parts <= unloaded_memory_size);
    // Most processes have one provider: page alignment minimises the pages it occupies.
    alignas(4096) static constinit std::byte own[own_max][sizeof(eventlog_provider)]{};
    [[EVENTLOG_STARTUP_SECTION]] static constinit std::size_t used = 0;
    return used < own_max
               ? own[used++]
               : std::aligned_alloc(alignof(eventlog_provider), sizeof(eventlog_provider));
}

/// The withdrawn instances that are not reused yet, so that the event of a late thread finds a
/// withdrawn provider instead of the next one.
constexpr std::size_t quarantined_instances = 3;

std::size_t count_free() noexcept {
    std::size_t count = 0;
    for (const eventlog_provider* free = first_free; free != nullptr; free = free->next) {
        ++count;
    }
    return count;
}

/// False while a thread uses the definition or runs callbacks. Otherwise no late thread begins
/// before reset_notifications: it would run callbacks at the same time as one of the next provider.
bool try_to_claim(eventlog_provider& provider) noexcept {
    std::atomic<std::uint32_t>& running = provider.notifications.running_thread;
    std::uint32_t holder = 0;
    if (!running.compare_exchange_strong(holder, thread_id(), std::memory_order_seq_cst)) {
        return false;
    }
    if (!free_definition(provider)) {
        running.store(0, std::memory_order_release);
        return false;
    }
    return true;
}

/// nullptr if there is none. Skips instances whose definition or callback is still in use by a
/// thread.
eventlog_provider* take_free() noexcept {
    eventlog_provider** link = &first_free;
    while (*link != nullptr && !try_to_claim(**link)) {
        link = &(*link)->next;
    }
    eventlog_provider* instance = *link;
    if (instance != nullptr) {
        *link = instance->next;
        reset_notifications(*instance);
        clear_callbacks(*instance);
    }
    return instance;
}

}  // namespace

void reset_notifications(eventlog_provider& provider) noexcept {
    if (listener_serials* serials = provider.notifications.serials.load(std::memory_order_relaxed);
        serials != nullptr) {
        *serials = {};
    }
    provider.notifications.notified_generation = 0;
    provider.notifications.running_thread.store(0, std::memory_order_relaxed);
}

void reset_notifications_in_child(eventlog_provider& provider,
                                  std::uint32_t parent_thread) noexcept {
    const bool goes_on =
        provider.notifications.running_thread.load(std::memory_order_relaxed) == parent_thread;
    reset_notifications(provider);
    if (goes_on) {
        provider.notifications.running_thread.store(thread_id(), std::memory_order_relaxed);
    }
}

void clear_callbacks(eventlog_provider& provider) noexcept {
    provider.notifications.on_change.replace(nullptr, nullptr);
    provider.notifications.on_new_listener.replace(nullptr, nullptr);
}

eventlog_provider* take_instance() noexcept {
    if (count_free() > quarantined_instances) {
        if (eventlog_provider* instance = take_free(); instance != nullptr) {
            return instance;
        }
    }
    void* memory = allocate_instance();
    return memory == nullptr ? take_free() : new (memory) eventlog_provider;
}

void return_instance(eventlog_provider& provider) noexcept {
    provider.next = first_free;
    first_free = &provider;
}

void retire_instance(eventlog_provider& provider) noexcept {
    eventlog_provider** link = &first_free;
    while (*link != nullptr) {
        link = &(*link)->next;
    }
    provider.next = nullptr;
    *link = &provider;
}

eventlog_provider* get_first_free() noexcept {
    return first_free;
}

}  // namespace eventlog::core
