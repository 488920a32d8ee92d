// SPDX-License-Identifier: MIT
//
// Writes one record to one subscription.
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

/// One event before it becomes a record.
struct event_payload {
    std::uint32_t event = 0;
    std::size_t size = 0;                     // at most payload_size_max
    const void* block = nullptr;              // readable and zero up to the next multiple of 8
    std::span<const eventlog_part> pieces{};  // used if block is null
    std::uint16_t flags = 0;                  // EVENTLOG_RECORD_...
    /// The provider's gate; the record is counted in the page behind it.
    const std::atomic<std::uint32_t*>* gate = &null_gate_pointer;
};

/// Copies the payload without padding.
inline void copy_payload(std::uint8_t* to, const event_payload& payload) noexcept {
    if (payload.block != nullptr) {
        std::memcpy(to, payload.block, payload.size);
        return;
    }
    for (const eventlog_part& piece : payload.pieces) {
        if (piece.size != 0) {
            std::memcpy(to, piece.data, piece.size);
            to += piece.size;
        }
    }
}

inline constexpr std::size_t payload_size_max =
    EVENTLOG_RECORD_SIZE_MAX - EVENTLOG_EXTENDED_HEADER_SIZE;

enum class write_result {
    written,            // and counted in the provider's counters
    written_uncounted,  // but not counted in the provider's counters
    lost_full,          // counted in the ring
    lost_busy,          // shared ring locked for 50 ms, or by interrupted code; not counted yet
    stale,              // the subscription is paused or has ended, or another one has its slot
    lost_no_memory,     // as lost_full, because the shared ring has no memory
    refused,            // needs a buffer, but the process may not be read; not counted yet
};

/// The sequences of rseq_append.hpp in one function for callers that do not inline them: appends to
/// the ring of this CPU if there is room, otherwise does nothing. For contiguous payloads without
/// flags. `provider_head` is that of the attachment, here and below.
[[nodiscard]] rseq_result append_block(const subscription_slot& slot, std::uint64_t mapping,
                                       std::uint64_t provider_head, std::uint32_t thread,
                                       const event_payload& payload) noexcept;

/// Writes to the ring of the current CPU, or to the shared ring if that is impossible.
/// Async-signal-safe; does not block (for the shared ring: 50 ms at most); allocates
/// nothing except a buffer of the shared ring, in the region, before its first use.
[[nodiscard]] write_result write_record(subscription_slot& slot, std::uint64_t mapping,
                                        std::uint64_t provider_head,
                                        const event_payload& payload) noexcept;

/// Writes to the shared ring.
[[nodiscard]] write_result write_record_shared(subscription_slot& slot, std::uint64_t mapping,
                                               std::uint64_t provider_head,
                                               const event_payload& payload) noexcept;

}  // namespace eventlog::core
