// SPDX-License-Identifier: MIT
//
// Decisions that the per-CPU writer and the shared-ring writer have in common: when to switch
// buffers and when to wake the reader. Each writer applies the decision in its own way.
#pragma once

#include <cstdint>

#include "ring/rseq.hpp"
#include "ring/subscription_slots.hpp"

namespace eventlog::core {

constexpr std::uint64_t units_of(std::size_t size) noexcept {
    return (size + EVENTLOG_RECORD_ALIGNMENT - 1) / EVENTLOG_RECORD_ALIGNMENT;
}

enum class full_action {
    retry,          // there is room behind the control word step.expected
    switch_buffer,  // continue in the next buffer
    seal,           // the ring is full: seal the active buffer
    drop,           // the ring is full and sealed: count the loss
};

struct full_decision {
    full_action action = full_action::retry;
    rseq_switch step{};
};

/// Called when `units` do not fit behind the position. Reads shared memory: only inside a
/// slot_user.
[[nodiscard]] full_decision decide_when_full(const subscription_slot& slot, eventlog_ring* ring,
                                             std::uint64_t units) noexcept;

/// Called after a switch or a seal, when the reader has data to read.
void wake_reader(eventlog_region* region) noexcept;

}  // namespace eventlog::core
