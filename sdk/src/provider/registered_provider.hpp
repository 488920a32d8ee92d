// SPDX-License-Identifier: MIT
//
// The state of a provider registered by this process.
#pragma once

#include <linux/eventlog.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <eventlog/abi.h>
#include <eventlog/schema_format.hpp>

#include "platform/error_text.hpp"
#include "provider/event_values.hpp"
#include "provider/notification_state.hpp"
#include "provider/user_events_state.hpp"
#include "ring/gate_pages.hpp"
#include "ring/subscription_slots.hpp"
#include "shm/own_process_file.hpp"
#include "shm/process_file_layout.hpp"

namespace eventlog::core {

struct built_definition;
struct runtime_definition;

/// No slot has this number of a mapping, and no subscription this serial; an empty slot has 0.
inline constexpr std::uint64_t not_attached = UINT64_MAX;

/// A reason of an attach that failed, if no system call has failed.
inline constexpr int unknown_attach_error = -1;

/// A provider's entry in a subscription: valid while the slot has that mapping.
struct attachment {
    /// Constant: the gate bit and the slot of this attachment.
    std::uint32_t gate_bit = 0;
    /// The provider's entry in the region's table. Stored before the mapping, as provider_head.
    std::atomic<std::uint32_t> provider_id{0};
    subscription_slot* slot = nullptr;

    std::atomic<std::uint64_t> mapping{not_attached};  // see begin()
    /// The base of the provider's event numbers, see record_header.hpp.
    std::atomic<std::uint64_t> provider_head{0};
    /// Coarse monotonic nanoseconds before which a failed attach is not retried.
    std::atomic<std::uint64_t> not_before{0};
    /// The subscription's. Of a forked child that has prepared the attachment for its first emit,
    /// already while there is no mapping.
    std::atomic<std::uint64_t> serial{not_attached};
    std::uint64_t late_schema_offset = 0;  // for that emit; under the registry lock

    [[nodiscard]] bool is_attached_to(std::uint64_t subscription) const noexcept {
        return serial.load(std::memory_order_relaxed) == subscription &&
               mapping.load(std::memory_order_relaxed) != not_attached;
    }
    /// Under the registry lock, after provider_id and provider_head. A thread that loads the new
    /// serial (acquire), then the mapping, never finds the mapping of an earlier subscription.
    void begin(std::uint64_t new_serial, std::uint64_t new_mapping) noexcept {
        mapping.store(not_attached, std::memory_order_relaxed);
        serial.store(new_serial, std::memory_order_release);
        mapping.store(new_mapping, std::memory_order_release);
    }
    /// Under the registry lock, or by a thread whose emit ends the attachment.
    void end() noexcept {
        mapping.store(not_attached, std::memory_order_relaxed);
        serial.store(not_attached, std::memory_order_relaxed);
    }
};

/// The attachments of a provider, by slot.
struct attachment_list {
    constexpr attachment_list() noexcept {
        for (unsigned i = 0; i < places.size(); ++i) {
            places[i].gate_bit = 1U << i;
            places[i].slot = &subscription_slots[i];
        }
    }
    std::array<attachment, slots_end> places{};
};

/// The list of all providers that have never attached. It is not written.
[[gnu::visibility("hidden")]] extern attachment_list no_attachments;

}  // namespace eventlog::core

/// A provider. Never freed, but reused for another provider, because a late thread may still hold
/// the handle for its last event. Until the reuse that thread finds no events and a gate without
/// listeners. A handle is reused only when three more providers have been withdrawn. Then it means
/// another provider: if that one has as many events and a listener, an event of a thread that is so
/// late is recorded as one of its events, with a payload that does not match the schema. This is
/// memory-safe here and in readers, which validate payloads against schemas, but it is a wrong
/// record. The application excludes it by the rule that definition.h states for
/// eventlog_provider_destroy. docs/decisions/sdk/038-handles-are-reused-late.md gives the reasons.
/// Providers of C++ are not affected: they are withdrawn when their code is unloaded.
struct eventlog_provider {
    /// First, because eventlog_enabled reads it: part of the binary interface.
    std::atomic<std::uint32_t*> gate{eventlog::core::null_gate.data()};
    /// The attachment of the last written event; the fast path uses it first.
    std::atomic<const eventlog::core::attachment*> latest{
        eventlog::core::no_attachments.places.data()};
    /// All of them: a list of its own after prepare_attachments().
    std::atomic<eventlog::core::attachment_list*> attachments{&eventlog::core::no_attachments};
    std::atomic<std::uint32_t> event_count{0};
    /// Whether the gate is the one that all providers of the process share, in whose words nothing
    /// is ever cleared; see own_gate.hpp.
    std::atomic<bool> reads_shared_gate{false};
    /// Whether the own gate may lack bits of a subscription: a scan could not map it, or the
    /// consumer had no memory for it. Events are lost until the subscriptions are scanned again.
    std::atomic<bool> misses_subscriptions{false};
    /// Slots whose bits an attach has cleared, until it has looked for their subscriptions again. A
    /// bit may have been that of a subscription that it finds then. Meanwhile each word has a
    /// notification, so that no emit ends at its gate.
    std::atomic<std::uint32_t> cleared_slots{0};
    /// As misses_subscriptions for collectors, by their bits.
    std::atomic<std::uint32_t> missed_collectors{0};
    /// The provider's entry in the process file, mapped; nullptr while it is not published.
    std::atomic<eventlog_published_provider*> entry{nullptr};
    /// Why the provider cannot attach: the errno of the call that failed, or unknown_attach_error.
    /// 0: the last attempt has not failed.
    std::atomic<int> attach_error{0};
    /// Coarse monotonic nanoseconds before which an emit does not retry to get an own gate.
    std::atomic<std::uint64_t> own_gate_not_before{0};
    /// Of a provider defined at run time, and of every later provider with this handle.
    std::atomic<eventlog::core::runtime_definition*> dynamic{nullptr};

    /// For each event, a bit for each slot whose subscription wants it in some sessions only.
    eventlog::core::event_values<std::uint16_t> session_limited;

    /// For each event, a bit for each collector that records it, the first collector's lowest.
    eventlog::core::event_values<std::uint8_t> collected;

    /// Notifications about listeners; see notification.hpp.
    eventlog::core::notification_state notifications;

    /// The route through the kernel.
    eventlog::core::user_events_route user_events;

    [[nodiscard]] std::atomic_ref<std::uint32_t> gate_word(std::uint32_t event) const noexcept {
        return std::atomic_ref(gate.load(std::memory_order_relaxed)[event]);
    }

    [[nodiscard]] eventlog::core::attachment& attachment_to(unsigned slot) const noexcept {
        return attachments.load(std::memory_order_acquire)->places[slot];
    }

    // The members below are under the registry lock.
    const std::uint8_t* schema = nullptr;
    std::size_t schema_size = 0;
    std::uint64_t schema_hash = 0;
    std::array<char, 64> name{};
    eventlog::core::published_place place{};
    eventlog_status_code status = EVENTLOG_STATUS_UNREGISTERED;
    eventlog::core::error_text failure;  // why it is not published
    eventlog_provider* next = nullptr;
    std::uint32_t dump_complete_event =
        eventlog::schema_format::no_index;  // the event that ends a dump, if there is one
    bool wants_notifications = false;       // about changes of listeners
    bool published = false;
};

static_assert(std::is_standard_layout_v<eventlog_provider> &&
              offsetof(eventlog_provider, gate) == 0);

namespace eventlog::core {

/// Implements eventlog_raw_provider_register, and the registration of providers defined at run
/// time: these use a gate of the library, and own `built` unless nullptr (no memory) is returned.
[[nodiscard]] eventlog_provider* register_provider(const eventlog_raw_provider& definition,
                                                   const built_definition* built) noexcept;

/// Gives the provider attachments of its own unless it has them; afterwards they may be written.
/// False if there is no memory. Under the registry lock.
[[nodiscard]] bool prepare_attachments(eventlog_provider& provider) noexcept;

/// Under the registry lock: the first registered provider, and the first one to be reused. `next`
/// links the rest.
[[nodiscard]] eventlog_provider* get_first_registered() noexcept;
[[nodiscard]] eventlog_provider* get_first_free() noexcept;

/// Whether EVENTLOG=off is set.
[[nodiscard]] bool is_disabled_by_environment() noexcept;

/// Installs the fork handlers once, before anything is registered: a fork() needs them then. Other
/// registering threads wait for the lock until they are there.
void prepare_for_forks() noexcept;

/// Determines once what all registrations of the process share. Under the registry lock.
void prepare_process() noexcept;

/// The directory that this process publishes in, determined at its first registration. Under the
/// registry lock.
[[nodiscard]] const directory_path& own_directory() noexcept;

}  // namespace eventlog::core
