// SPDX-License-Identifier: MIT
//
// Restartable sequences: what makes all threads of all processes on a CPU one producer.
//
// The kernel moves a thread that is preempted, migrated or interrupted by a signal inside a
// sequence to its abort handler; so whatever stands there happens on one CPU without anything else
// in between, and its last instruction, the only one whose effect anyone looks at, happens last or
// not at all. No lock prefix is needed anywhere.
//
// The functions do one step of a ring each, where rseq_sequence.hpp knows the processor; elsewhere
// there are no sequences and nobody calls them. They read a region, and its geometry, only after
// the slot's serial has been compared inside the sequence.
//
// Not between vfork and exec: the child has no sequences, but looks like its parent.
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
    aborted = 1,    // begin again
    changed = 2,    // no room behind the position, or the control word is not the expected one
    stale = 3,      // the slot has another serial by now, or the subscription has ended
    elsewhere = 4,  // this CPU has no ring that a sequence could write to
    uncounted = 5,  // done, but not counted in the provider's counters (rseq_append_block only)
};

/// Once per process, before anything is written. Not without a means to make all running sequences
/// start over, and not if EVENTLOG_RSEQ=off forbids them.
void configure_rseq(bool can_be_restarted) noexcept;

/// __rseq_offset, at hand. Set by configure_rseq.
[[EVENTLOG_STARTUP_SECTION]] extern constinit std::ptrdiff_t rseq_area;

/// Whether they are chosen and glibc has registered them. A thread that has none of its own all the
/// same notices inside its first sequence.
[[nodiscard]] bool rseq_available() noexcept;

/// The CPU on which the sequence that begins next should run.
[[nodiscard]] std::uint32_t rseq_cpu() noexcept;

/// A record whose payload is in pieces, at least one, followed by `padding` zero bytes.
struct rseq_pieces {
    std::uint64_t head;    // bytes 0-7 of the record
    std::uint64_t time;    // 0: to be read inside the sequence
    std::uint32_t thread;  // bytes 16-19
    std::uint32_t flags;   // bytes 22-23
    std::uint64_t units;   // header, payload and padding
    const eventlog_piece* pieces;
    const eventlog_piece* end;
    std::uint64_t padding;
};

/// Appends it to the ring of the CPU it runs on. (The common case, a payload in one place and the
/// processor's clock, is rseq_append_block in rseq_append.hpp.)
[[nodiscard]] rseq_result rseq_append_pieces(const subscription_slot& slot, std::uint64_t serial,
                                             const rseq_pieces& record) noexcept;

/// Where the other steps take place.
struct rseq_target {
    std::uint32_t cpu;
    const void* slot_serial;  // compared, inside the sequence, with
    std::uint64_t serial;
    eventlog_ring* ring;
};

/// Seal `current` and go on in `next`; the `lost_before` of next is filled in inside the sequence.
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

/// Seal `current` without a next one: the ring is full.
[[nodiscard]] rseq_result rseq_seal(const rseq_target& place, std::uint64_t expected,
                                    eventlog_buffer* current, std::uint64_t control) noexcept;

/// Count a record as lost, if the control word still is the expected one.
[[nodiscard]] rseq_result rseq_count_lost(const rseq_target& place,
                                          std::uint64_t expected) noexcept;

}  // namespace eventlog::core
