// SPDX-License-Identifier: MIT
//
// The writer of the shared ring, for processes without restartable sequences (other processors,
// valgrind, seccomp, EVENTLOG_RSEQ=off) and for CPUs without a ring. The ring protocol is the same;
// a lock (ring_lock.hpp) instead of the CPU makes all threads one producer.
#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include "platform/data_reader.hpp"
#include "platform/populate.hpp"
#include "platform/process.hpp"
#include "platform/signal_guard.hpp"
#include "ring/clock.hpp"
#include "ring/custom_clock.hpp"
#include "ring/record_header.hpp"
#include "ring/ring_lock.hpp"
#include "ring/ring_transition.hpp"
#include "ring/ring_writer.hpp"

namespace eventlog::core {
namespace {

// After a failed allocation the next attempt waits at least this long, and at least this many times
// as long as the attempt took (zeroing and freeing pages).
constexpr std::uint64_t allocation_retry_interval = 10'000'000;
constexpr std::uint64_t allocation_retry_factor = 20;

/// Several CPUs write here, so the record is an extended one.
void copy_record(unsigned char* target, const subscription_slot& slot, std::uint64_t provider_head,
                 const event_payload& payload, std::uint64_t units, std::uint64_t time) noexcept {
    const std::uint32_t clock = slot.clock.load(std::memory_order_relaxed);
    const std::uint64_t now = time != 0 ? time : read_clock_ordered(clock & ~custom_clock_bit);
    const auto flags =
        static_cast<std::uint16_t>(payload.flags | (time != 0 ? EVENTLOG_RECORD_CUSTOM_TIME : 0));
    const int cpu = ::sched_getcpu();
    const std::array<std::uint64_t, 3> header{
        extended_head(provider_head, payload.event) | static_cast<std::uint32_t>(now),
        thread_part(thread_id()) | now >> 32U,
        extended_word(flags, payload.size) |
            std::uint64_t{static_cast<std::uint16_t>(cpu < 0 ? 0 : cpu)} << EVENTLOG_CPU_SHIFT};
    static_assert(sizeof header == EVENTLOG_EXTENDED_HEADER_SIZE);
    std::memset(target + (units - 1) * EVENTLOG_RECORD_ALIGNMENT, 0, EVENTLOG_RECORD_ALIGNMENT);
    std::memcpy(target, header.data(), sizeof header);
    copy_payload(target + sizeof header, payload);
}

/// Applies a decision of decide_when_full. Cannot fail, because the lock excludes other producers.
void switch_shared_buffers(eventlog_ring* ring, const rseq_switch& step) noexcept {
    shared(step.current->sealed).store(step.sealed, std::memory_order_relaxed);
    shared(step.next->generation).store(step.generation + 1, std::memory_order_relaxed);
    // In overwrite mode a consumer may be reading the buffer. The fence makes the new generation
    // visible before any of the following stores.
    std::atomic_thread_fence(std::memory_order_release);
    shared(step.next->records_before).store(step.records_before, std::memory_order_relaxed);
    shared(step.next->lost_before)
        .store(shared(ring->lost).load(std::memory_order_relaxed), std::memory_order_relaxed);
    shared(step.next->sealed).store(0, std::memory_order_relaxed);
    shared(ring->control).store(step.control, std::memory_order_release);
}

void seal(eventlog_ring* ring, const rseq_switch& step) noexcept {
    shared(step.current->sealed).store(step.expected, std::memory_order_relaxed);
    shared(ring->control).store(step.control, std::memory_order_release);
}

/// A lazy ring before its first write: generation 0, sealed and empty. No other ring has that
/// state.
bool has_not_begun(const rseq_switch& step) noexcept {
    return step.expected == EVENTLOG_SEALED && step.generation == 0;
}

/// Opens generation 0 for records. Records that found no memory were lost before it.
void begin(eventlog_ring* ring, const rseq_switch& step) noexcept {
    shared(step.current->lost_before)
        .store(shared(ring->lost).load(std::memory_order_relaxed), std::memory_order_relaxed);
    shared(ring->control).store(0, std::memory_order_release);
}

/// Whether the buffer of a generation that has no records yet has memory; allocates it if needed.
/// If the thread is killed in between, nothing visible has changed, and the next holder of the lock
/// repeats the step.
bool has_memory(subscription_slot& slot, eventlog_ring* ring, unsigned char* buffers,
                std::uint64_t generation) noexcept {
    // A buffer gets its memory before its first generation starts. Relaxed: only the holder of the
    // lock changes the number.
    if (!slot.shared_ring_is_lazy.load(std::memory_order_relaxed) ||
        generation > slot.buffer_mask.load(std::memory_order_relaxed) ||
        generation < shared(ring->reserved_buffers).load(std::memory_order_relaxed)) {
        return true;
    }
    const std::uint64_t now = coarse_monotonic_now();
    const std::uint64_t not_before = slot.allocation_not_before.load(std::memory_order_relaxed);
    if (now < not_before) {
        return false;
    }
    // Checked here and not while attaching: most programs never need it, and some sandboxes kill a
    // program for an unusual system call.
    if (not_before == 0 && !can_populate()) {
        slot.allocation_not_before.store(UINT64_MAX, std::memory_order_relaxed);
        return false;
    }
    const std::uint64_t size = slot.buffer_size.load(std::memory_order_relaxed);
    unsigned char* const buffer = buffers + generation * size;
    if (populate(buffer, size)) {
        return true;
    }
    // A partly allocated buffer is useless, and keeps a full tmpfs full. Freeing it is safe:
    // readers access only generations that a control word has named, and this one was never named;
    // writers need the lock; and a process that reserves all buffers records that in
    // reserved_buffers.
    release_pages(buffer, size);
    const std::uint64_t after = coarse_monotonic_now();
    slot.allocation_not_before.store(
        after + std::max(allocation_retry_interval, allocation_retry_factor * (after - now)),
        std::memory_order_relaxed);
    return false;
}

/// The result of make_room: a control word with room, or a loss.
struct found_room {
    write_result result = write_result::lost_full;  // written_uncounted: there is room
    control_word control{};
};

/// Finds or makes room behind a control word; otherwise counts the loss. All later steps use this
/// one reading, because shared memory may change between two loads. Without permission to begin a
/// buffer nothing changes where one is needed.
found_room make_room(subscription_slot& slot, eventlog_ring* ring, unsigned char* buffers,
                     std::uint64_t units, bool may_begin_buffer) noexcept {
    found_room found;
    // Begin, seal, switch, done: a valid ring needs three iterations at most.
    for (int look = 0; look < 4; ++look) {
        // Reset: what an earlier iteration found may have changed.
        found.result = write_result::lost_full;
        full_decision decision = decide_when_full(slot, ring, units);
        rseq_switch& step = decision.step;
        if (decision.action == full_action::retry) {
            return {write_result::written_uncounted, {step.expected}};
        }
        const bool begins = has_not_begun(step);
        const bool goes_on = begins || decision.action == full_action::switch_buffer;
        if (goes_on && !may_begin_buffer) {
            return {write_result::refused, {}};
        }
        if (goes_on && !has_memory(slot, ring, buffers, begins ? 0 : step.generation + 1)) {
            // For readers the ring is full, in overwrite mode, too.
            found.result = write_result::lost_no_memory;
            const control_word control{step.expected};
            decision.action = control.is_sealed() ? full_action::drop : full_action::seal;
            step.control = control.sealed().value;
        } else if (begins) {
            begin(ring, step);
            continue;
        }
        if (decision.action == full_action::drop) {
            break;
        }
        if (decision.action == full_action::switch_buffer) {
            switch_shared_buffers(ring, step);
        } else {
            seal(ring, step);
        }
        wake_reader(slot.region());
    }
    shared(ring->lost).fetch_add(1, std::memory_order_relaxed);
    return found;
}

bool is_live(const subscription_slot& slot) noexcept {
    return shared(slot.region()->state).load(std::memory_order_relaxed) == EVENTLOG_REGION_LIVE;
}

/// Precondition: the lock is held. `custom_time` is 0 without a custom clock. Not inlined: taking
/// the lock needs the stack.
[[gnu::noinline]] write_result write_as_holder(subscription_slot& slot, eventlog_ring* ring,
                                               std::uint64_t provider_head,
                                               const event_payload& payload,
                                               std::uint64_t custom_time,
                                               bool may_begin_buffer) noexcept {
    // Checked again, because waiting may have taken long. Pairs with the fence in release_memory.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (!is_live(slot)) {
        return write_result::stale;
    }
    const std::uint64_t units = units_of(EVENTLOG_EXTENDED_HEADER_SIZE + payload.size);
    unsigned char* const buffers =
        slot.buffers(slot.ring_count.load(std::memory_order_relaxed) - 1);
    const found_room found = make_room(slot, ring, buffers, units, may_begin_buffer);
    if (found.result != write_result::written_uncounted) {
        return found.result;
    }
    const control_word control = found.control;
    const std::uint64_t buffer_size = slot.buffer_size.load(std::memory_order_relaxed);
    const std::uint64_t buffer =
        control.generation() & slot.buffer_mask.load(std::memory_order_relaxed);
    copy_record(buffers + buffer * buffer_size + control.position(), slot, provider_head, payload,
                units, custom_time);
    shared(ring->control)
        .store(control.value + (units | std::uint64_t{1} << EVENTLOG_COUNT_SHIFT),
               std::memory_order_release);
    return write_result::written_uncounted;
}

}  // namespace

write_result write_record_shared(subscription_slot& slot, std::uint64_t mapping,
                                 std::uint64_t provider_head,
                                 const event_payload& payload) noexcept {
    // sched_getcpu and sched_yield may fail, in a sandbox or under an emulator.
    const errno_guard keeps_errno;
    const slot_user user(slot, mapping);
    // The lock of an ended subscription must not delay events of its successor.
    if (!user.holds() || !is_live(slot)) {
        return write_result::stale;
    }
    eventlog_ring* ring = slot.ring(slot.ring_count.load(std::memory_order_relaxed) - 1);
    // The program's clock function runs before the lock is taken, because other processes wait for
    // the lock.
    const std::uint32_t clock = slot.clock.load(std::memory_order_relaxed);
    const std::uint64_t custom_time = (clock & custom_clock_bit) != 0 ? read_clock(clock) : 0;
    const auto try_to_write = [&](bool may_begin_buffer) {
        const ring_lock lock(slot, ring);
        // A child forked inside this function must write the event again under its own name.
        if (slot.mapping.load(std::memory_order_relaxed) != mapping) {
            return write_result::stale;
        }
        const write_result result =
            lock.held()
                ? write_as_holder(slot, ring, provider_head, payload, custom_time, may_begin_buffer)
                : write_result::lost_busy;
        return lock.belongs_to_parent() ? write_result::stale : result;
    };
    // Whether a buffer is needed is known with the lock only, but the check makes system calls, for
    // which other processes would wait.
    const write_result result = try_to_write(false);
    const bool is_private = slot.is_private.load(std::memory_order_relaxed);
    return result == write_result::refused && (is_private || may_be_read()) ? try_to_write(true)
                                                                            : result;
}

}  // namespace eventlog::core
