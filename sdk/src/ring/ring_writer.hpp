// SPDX-License-Identifier: MIT
//
// Writing one record to one subscription.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include <eventlog/abi.h>

#include "ring/gate_pages.hpp"
#include "ring/rseq.hpp"
#include "ring/subscription_slots.hpp"

namespace eventlog::core {

/// What an application wants to say, before it is a record.
struct event_payload {
    std::uint32_t event = 0;
    std::size_t size = 0;                      // at most payload_size_max
    const void* block = nullptr;               // readable and zero up to the next multiple of 8
    std::span<const eventlog_piece> pieces{};  // instead, if block is null
    std::uint16_t flags = 0;                   // EVENTLOG_RECORD_...
    /// Of the provider: behind it the record is counted.
    const std::atomic<std::uint32_t*>* gate = &null_gate_pointer;
};

/// Without the padding behind it.
inline void copy_payload(std::uint8_t* to, const event_payload& payload) noexcept {
    if (payload.block != nullptr) {
        std::memcpy(to, payload.block, payload.size);
        return;
    }
    for (const eventlog_piece& piece : payload.pieces) {
        if (piece.size != 0) {
            std::memcpy(to, piece.data, piece.size);
            to += piece.size;
        }
    }
}

inline constexpr std::size_t payload_size_max = EVENTLOG_RECORD_SIZE_MAX - sizeof(eventlog_record);

enum class write_result {
    written,            // and counted in the provider's counters
    written_uncounted,  // but not counted there
    lost_full,          // counted in the ring
    lost_busy,          // the shared ring was held by another all the time; counted nowhere yet
    stale,              // the subscription has ended, or another has taken its slot
    lost_no_memory,     // as lost_full, because there is no memory for the shared ring
};

/// rseq_append_block, in one piece of code for all who do not have it in their own: to the ring of
/// this CPU if there is room, and nowhere else. Of a payload in a block, without flags.
[[nodiscard]] rseq_result append_block(const subscription_slot& slot, std::uint64_t serial,
                                       std::uint64_t head, std::uint32_t thread,
                                       const event_payload& payload) noexcept;

/// Writes to the ring of the CPU it runs on, or to the shared ring where that cannot be. Async-
/// signal-safe, waits for nobody (for the shared ring: some milliseconds at most), allocates
/// nothing (but a buffer of the shared ring, in the region, before anybody uses it first).
[[nodiscard]] write_result write_record(subscription_slot& slot, std::uint64_t serial,
                                        std::uint16_t provider,
                                        const event_payload& payload) noexcept;

/// The same, to the shared ring at once.
[[nodiscard]] write_result write_record_shared(subscription_slot& slot, std::uint64_t serial,
                                               std::uint16_t provider,
                                               const event_payload& payload) noexcept;

}  // namespace eventlog::core
