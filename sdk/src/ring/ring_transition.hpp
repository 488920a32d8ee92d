// SPDX-License-Identifier: MIT
//
// What both writers, per CPU and shared, decide in the same way: when to switch buffers, and whom
// to wake. Each carries the decision out by its own means.
#pragma once

#include <cstdint>

#include "ring/rseq.hpp"
#include "ring/subscription_slots.hpp"

namespace eventlog::core {

constexpr std::uint64_t units_of(std::size_t size) noexcept {
    return (size + EVENTLOG_RECORD_ALIGNMENT - 1) / EVENTLOG_RECORD_ALIGNMENT;
}

/// Bytes 0-7 of a record, where `provider_head` is those of the provider's number.
constexpr std::uint64_t record_head(std::size_t payload_size, std::uint64_t provider_head,
                                    std::uint32_t event) noexcept {
    return (sizeof(eventlog_record) + payload_size) | provider_head | std::uint64_t{event} << 48U;
}

enum class full_action {
    retry,          // there is room, behind the control word step.expected
    switch_buffer,  // go on in the next buffer
    seal,           // the ring is full, say so
    drop,           // it has been said: count
};

struct full_decision {
    full_action action = full_action::retry;
    rseq_switch step{};
};

/// The producer found no room for `units` behind the position. Reads shared memory: inside a
/// slot_user only.
[[nodiscard]] full_decision decide_when_full(const subscription_slot& slot, eventlog_ring* ring,
                                             std::uint64_t units) noexcept;

/// After a switch or a seal: there is something to read.
void wake_reader(eventlog_region* region) noexcept;

}  // namespace eventlog::core
