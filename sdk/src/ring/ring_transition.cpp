// SPDX-License-Identifier: MIT
#include "ring/ring_transition.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>

#include "platform/signal_guard.hpp"

namespace eventlog::core {

full_decision decide_when_full(const subscription_slot& slot, eventlog_ring* ring,
                               std::uint64_t units) noexcept {
    const std::uint64_t count = slot.buffer_mask.load(std::memory_order_relaxed) + 1;
    const std::uint64_t capacity = slot.buffer_units.load(std::memory_order_relaxed);
    const control_word control{shared(ring->control).load(std::memory_order_acquire)};
    full_decision decision;
    rseq_switch& step = decision.step;
    step.expected = control.value;
    if (control.units() + units <= capacity) {
        return decision;
    }
    eventlog_buffer* descriptors = descriptors_of(ring);
    eventlog_buffer* current = &descriptors[control.generation() & (count - 1)];
    step.generation = shared(current->generation).load(std::memory_order_relaxed);
    step.current = current;
    // Acquire: the reader has finished with the buffer that is used next.
    const std::uint64_t drained = shared(ring->drained).load(std::memory_order_acquire);
    if (step.generation + 1 < drained + count || slot.overwrites.load(std::memory_order_relaxed)) {
        decision.action = full_action::switch_buffer;
        step.sealed = control.is_sealed() ? shared(current->sealed).load(std::memory_order_relaxed)
                                          : control.value;
        step.next = &descriptors[(step.generation + 1) & (count - 1)];
        step.records_before =
            shared(current->records_before).load(std::memory_order_relaxed) + control.count();
        step.control = control_word::first_of(step.generation + 1).value;
    } else if (!control.is_sealed()) {
        decision.action = full_action::seal;
        step.control = control.sealed().value;
    } else {
        decision.action = full_action::drop;
    }
    return decision;
}

void wake_reader(eventlog_region* region) noexcept {
    // The reader stores `waiting`, then loads the control words; the writer stores a control word,
    // then loads `waiting`. With a full fence on both sides, at least one sees the other's store.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (shared(region->waiting).load(std::memory_order_relaxed) != 0 &&
        shared(region->waiting).exchange(0, std::memory_order_relaxed) != 0) {
        const errno_guard keeps_errno;
        shared(region->wake).fetch_add(1, std::memory_order_release);
        static_cast<void>(
            ::syscall(SYS_futex, &region->wake, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0));
    }
}

}  // namespace eventlog::core
