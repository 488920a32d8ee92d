// SPDX-License-Identifier: MIT
//
// Restartable sequences make all threads of all processes on a CPU one producer.
//
// The kernel moves a thread that is preempted, migrated or interrupted by a signal inside a
// sequence to the sequence's abort handler. So a sequence runs on one CPU with nothing in between,
// and its last instruction, the only one with a visible effect, executes last or not at all. No
// lock prefix is needed.
//
// Each function performs one step of a ring, on processors that rseq_sequence.hpp supports; on
// others there are no sequences and no calls. A step accesses a region and its geometry only after
// the sequence has compared the slot's mapping.
//
// Not allowed between vfork and exec: the child has no sequences, but is indistinguishable from its
// parent.
#pragma once

#include <linux/eventlog.h>

#include <cstddef>
#include <cstdint>

#include <eventlog/abi.h>

#include "platform/startup_section.hpp"

namespace eventlog::core {

struct subscription_slot;

enum class rseq_result : int {
    done = 0,
    aborted = 1,        // restart the sequence
    changed = 2,        // no room behind the position, or an unexpected control word
    stale = 3,          // the slot has another mapping, or the subscription is paused or has ended
    elsewhere = 4,      // this CPU has no ring for sequences
    uncounted = 5,      // done, but not counted in the provider's counters (rseq_append.hpp only)
    other_context = 6,  // the ring has another context (rseq_append_block only)
};

/// Called once per process before the first write. Disables sequences if running ones cannot be
/// restarted (`can_be_restarted`), or if EVENTLOG_RSEQ=off.
void configure_rseq(bool can_be_restarted) noexcept;

/// A copy of __rseq_offset. Set by configure_rseq.
[[EVENTLOG_STARTUP_SECTION]] extern constinit std::ptrdiff_t rseq_area;

/// Whether sequences are enabled and glibc has registered its area with the kernel. A thread
/// without a registration is detected inside its first sequence.
[[nodiscard]] bool rseq_available() noexcept;

/// The CPU on which the next sequence is expected to run.
[[nodiscard]] std::uint32_t rseq_cpu() noexcept;

/// A record with a payload of one or more pieces, followed by `padding` zero bytes.
struct rseq_pieces {
    std::uint64_t head;      // extended_head
    std::uint64_t time;      // 0: read inside the sequence
    std::uint64_t is_armed;  // 1: the time was read after rseq_arm_pieces()
    std::uint64_t thread;    // thread_part
    std::uint64_t extended;  // extended_word
    std::uint64_t units;     // header, payload and padding
    const eventlog_part* pieces;
    const eventlog_part* end;
    std::uint64_t padding;
};

/// Called before a clock is read that no sequence can read. If the thread is preempted, migrated or
/// interrupted by a signal after that, rseq_append_pieces is aborted, so that no record has a time
/// from before. The kernel clears the pointer to a descriptor if it finds the thread outside of the
/// sequence; this sets the pointer, and the sequence requires that it is still set. If the clock is
/// a system call, kernels from 6.19 on may not clear the pointer, and kernels that check sequences
/// clear it always.
void rseq_arm_pieces() noexcept;

/// Appends an extended record to the ring of the current CPU. (The common case, a contiguous
/// payload and the processor's clock, is in rseq_append.hpp.)
[[nodiscard]] rseq_result rseq_append_pieces(const subscription_slot& slot, std::uint64_t mapping,
                                             const rseq_pieces& record) noexcept;

/// Rule W9 of linux/eventlog.h: appends a record with its context (sequence A), then makes that the
/// ring's (sequence B), unless another record or buffer has followed. After a record that
/// rseq_append_block has left, and with its parameters, but `units` has one word more. The record
/// is not counted in the provider's counters.
[[nodiscard]] rseq_result rseq_append_context(const subscription_slot& slot, std::uint64_t mapping,
                                              std::uint64_t head, std::uint64_t context,
                                              std::uint64_t units, const void* payload) noexcept;

/// The ring that the steps below apply to.
struct rseq_target {
    std::uint32_t cpu;
    const void* slot_mapping;  // compared with `mapping` inside the sequence
    std::uint64_t mapping;
    eventlog_ring* ring;
};

/// Operands of a switch: seal `current` and continue in `next`, whose `lost_before` is set inside
/// the sequence.
struct rseq_switch {
    std::uint64_t expected;    // control word
    std::uint64_t generation;  // of current
    eventlog_buffer* current;
    std::uint64_t sealed;
    eventlog_buffer* next;
    std::uint64_t records_before;
    std::uint64_t control;  // new control word
};

[[nodiscard]] rseq_result rseq_switch_buffers(const rseq_target& place,
                                              const rseq_switch& step) noexcept;

/// Seals `current` without a next buffer: the ring is full.
[[nodiscard]] rseq_result rseq_seal(const rseq_target& place, std::uint64_t expected,
                                    eventlog_buffer* current, std::uint64_t control) noexcept;

/// Counts a lost record if the control word is the expected one.
[[nodiscard]] rseq_result rseq_count_lost(const rseq_target& place,
                                          std::uint64_t expected) noexcept;

}  // namespace eventlog::core
