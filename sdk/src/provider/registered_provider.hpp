// SPDX-License-Identifier: MIT
//
// What libeventlog keeps of a provider of this process.
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
#include "provider/notification_state.hpp"
#include "provider/user_events_state.hpp"
#include "ring/gate_pages.hpp"
#include "ring/subscription_slots.hpp"
#include "shm/provider_file.hpp"

namespace eventlog::core {

struct built_definition;
struct runtime_definition;

/// What no slot has as its serial: an empty one has 0.
inline constexpr std::uint64_t not_attached = UINT64_MAX;

/// A provider's place in a subscription: valid while the slot has that serial.
struct attachment {
    /// Constant: the gate bit and the slot that this is about.
    std::uint32_t gate_bit = 0;
    subscription_slot* slot = nullptr;

    std::atomic<std::uint64_t> serial{not_attached};  // stored with release, after provider_head
    /// The provider's number there, as it stands in bytes 0-7 of a record.
    std::atomic<std::uint64_t> provider_head{0};

    [[nodiscard]] std::uint16_t provider_id() const noexcept {
        return static_cast<std::uint16_t>(provider_head.load(std::memory_order_relaxed) >> 32U);
    }
    /// Coarse monotonic nanoseconds before which a failed attaching is not tried again.
    std::atomic<std::uint64_t> not_before{0};
};

}  // namespace eventlog::core

/// Never freed, but used again for another provider: a thread that is late with its last event may
/// still hold the handle. As long as nobody else has got it, it finds no events, and a gate that
/// nobody opens. Afterwards it is taken for the next provider: if that one has so many events, and
/// somebody listens, its event is recorded as one of that provider's, with a payload that does not
/// fit the schema. That is safe in memory, here and in readers, which check payloads against
/// schemas; but it is a wrong record, and only the application can prevent it, by the rule that
/// eventlog.h states for eventlog_provider_unregister. (Handles that tell one provider from the
/// next would have to be taken apart and compared at every emit, or be memory that is never used
/// again. For providers of C++ it does not matter: they are withdrawn when their code is unloaded.)
struct eventlog_provider {
    constexpr eventlog_provider() noexcept : latest(attachments.data()) {
        for (unsigned i = 0; i < attachments.size(); ++i) {
            attachments[i].gate_bit = 1U << i;
            attachments[i].slot = &eventlog::core::subscription_slots[i];
        }
    }

    /// First, because eventlog_enabled reads it: part of the binary interface.
    std::atomic<std::uint32_t*> gate{eventlog::core::null_gate.data()};
    std::array<eventlog::core::attachment, EVENTLOG_SUBSCRIPTIONS_MAX> attachments{};
    /// The one that an event went to last: where the next one is tried first.
    std::atomic<const eventlog::core::attachment*> latest;
    std::atomic<std::uint32_t> event_count{0};
    /// Of a provider that was defined at run time; of every later one in this place, too.
    std::atomic<eventlog::core::runtime_definition*> dynamic{nullptr};

    /// For each event, the slots whose subscription wants it in its sessions only.
    std::array<std::atomic<std::uint16_t>, EVENTLOG_EVENTS_MAX> session_limited{};

    /// Who wants to know when somebody comes or goes; see notification.hpp.
    eventlog::core::notification_state notifications;

    /// The way through the kernel.
    eventlog::core::user_events_route user_events;

    [[nodiscard]] std::atomic_ref<std::uint32_t> gate_word(std::uint32_t event) const noexcept {
        return std::atomic_ref(gate.load(std::memory_order_relaxed)[event]);
    }

    // The rest under the registry's lock.
    std::size_t gate_size = 0;
    const std::uint8_t* schema = nullptr;
    std::size_t schema_size = 0;
    std::uint64_t schema_hash = 0;
    std::array<char, 64> name{};
    eventlog::core::provider_file_name file_name{};
    eventlog_status_code status = EVENTLOG_UNREGISTERED;
    eventlog::core::error_text status_text{};
    eventlog_provider* next = nullptr;
    std::uint32_t dump_complete_event =
        eventlog::no_index;            // the event that ends a dump, if there is one
    bool wants_notifications = false;  // wants to know who comes and goes
    bool published = false;
};

static_assert(std::is_standard_layout_v<eventlog_provider> &&
              offsetof(eventlog_provider, gate) == 0);

namespace eventlog::core {

/// eventlog_provider_register, and the same for a provider that was defined at run time. Then its
/// gate is the library's, and `built` belongs to the provider unless NULL is returned: there is no
/// memory.
[[nodiscard]] eventlog_provider* register_provider(const eventlog_provider_definition& definition,
                                                   const built_definition* built) noexcept;

/// Under the lock: the first that is registered, and the first whose place the next one may take.
/// Each leads to the next.
[[nodiscard]] eventlog_provider* get_first_registered() noexcept;
[[nodiscard]] eventlog_provider* get_first_free() noexcept;

/// Where this process publishes: as it was when it registered its first provider. Under the lock.
[[nodiscard]] const directory_path& own_directory() noexcept;

}  // namespace eventlog::core
