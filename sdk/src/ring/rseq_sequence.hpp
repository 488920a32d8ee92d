// SPDX-License-Identifier: MIT
//
// What the restartable sequences of all processors have in common, as text for inline assembly and
// as operands. The frame of a sequence, and the way to a record's place, are in a header for each
// processor, EVENTLOG_MEMBER, how it names a member of a struct, too: EVENTLOG_MEMBER(slot,
// serial).
//
// In the thread's area, which glibc registers with the kernel at __rseq_offset from the thread
// pointer: cpu_id at 4, rseq_cs at 8. Labels: 70 descriptor, 71 start, 72 behind the last
// instruction, 73 aborted, 74 changed, 75 stale, 76 elsewhere, 79 abort handler. The handler stands
// behind the signature that the kernel asks for, in an instruction that traps.
//
// Whichever way it is left, the pointer to the descriptor is taken back: this object might be
// unloaded before the thread is preempted next.
#pragma once

#include <linux/eventlog.h>

#include <cstddef>

#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#endif

#include "ring/rseq.hpp"
#include "ring/subscription_slots.hpp"

// clang-format off
#define EVENTLOG_SEQUENCE_DESCRIPTOR            \
    ".pushsection __rseq_cs, \"aw\"\n"          \
    ".balign 32\n"                              \
    "70:\n"                                     \
    ".long 0, 0\n"                              \
    ".quad 71f, 72f - 71f, 79f\n"               \
    ".popsection\n"

// What the function returns: done, or what the label says that the sequence jumped to.
#define EVENTLOG_SEQUENCE_RESULTS               \
    return rseq_result::done;                   \
    aborted: return rseq_result::aborted;       \
    changed: return rseq_result::changed;       \
    stale: return rseq_result::stale;           \
    elsewhere: return rseq_result::elsewhere;

// Where the members are of what the operands point to. Of a slot, `cpus` is the one that says how
// many rings the sequence may write to.
#define EVENTLOG_SLOT_MEMBERS(cpus)                                                     \
    [slot_cpus] "i"(offsetof(subscription_slot, cpus)),                                 \
    [slot_serial] "i"(offsetof(subscription_slot, serial)),                             \
    [slot_state] "i"(offsetof(subscription_slot, state)),                               \
    [slot_ring_stride] "i"(offsetof(subscription_slot, ring_stride)),                   \
    [slot_rings] "i"(offsetof(subscription_slot, rings)),                               \
    [slot_buffer_units] "i"(offsetof(subscription_slot, buffer_units)),                 \
    [slot_buffer_mask] "i"(offsetof(subscription_slot, buffer_mask)),                   \
    [slot_buffer_size] "i"(offsetof(subscription_slot, buffer_size)),                   \
    [slot_ring_bytes] "i"(offsetof(subscription_slot, ring_bytes)),                     \
    [slot_first_buffer] "i"(offsetof(subscription_slot, first_buffer))

#define EVENTLOG_PIECES_MEMBERS                                                         \
    [record_time] "i"(offsetof(rseq_pieces, time)),                                     \
    [record_thread] "i"(offsetof(rseq_pieces, thread)),                                 \
    [record_units] "i"(offsetof(rseq_pieces, units)),                                   \
    [record_pieces] "i"(offsetof(rseq_pieces, pieces)),                                 \
    [record_end] "i"(offsetof(rseq_pieces, end)),                                       \
    [record_padding] "i"(offsetof(rseq_pieces, padding))

#define EVENTLOG_TARGET_MEMBERS                                                          \
    [place_cpu] "i"(offsetof(rseq_target, cpu)),                                         \
    [place_slot_serial] "i"(offsetof(rseq_target, slot_serial)),                         \
    [place_serial] "i"(offsetof(rseq_target, serial)),                                   \
    [place_ring] "i"(offsetof(rseq_target, ring))

#define EVENTLOG_SWITCH_MEMBERS                                                         \
    [step_expected] "i"(offsetof(rseq_switch, expected)),                               \
    [step_generation] "i"(offsetof(rseq_switch, generation)),                           \
    [step_current] "i"(offsetof(rseq_switch, current)),                                 \
    [step_sealed] "i"(offsetof(rseq_switch, sealed)),                                   \
    [step_next] "i"(offsetof(rseq_switch, next)),                                       \
    [step_records_before] "i"(offsetof(rseq_switch, records_before)),                   \
    [step_control] "i"(offsetof(rseq_switch, control))
// clang-format on

// The places that the sequences know by heart.
static_assert(offsetof(eventlog_record, time) == 8 && offsetof(eventlog_record, thread) == 16 &&
              offsetof(eventlog_record, cpu) == 20 && offsetof(eventlog_record, flags) == 22 &&
              sizeof(eventlog_record) == 24);
static_assert(offsetof(eventlog_ring, control) == 0 && offsetof(eventlog_ring, lost) == 8);
static_assert(offsetof(eventlog_buffer, generation) == 0 &&
              offsetof(eventlog_buffer, records_before) == 8 &&
              offsetof(eventlog_buffer, lost_before) == 16 &&
              offsetof(eventlog_buffer, sealed) == 24);
static_assert(sizeof(eventlog_piece) == 16 && offsetof(eventlog_piece, size) == 8);
static_assert(offsetof(eventlog::core::rseq_pieces, head) == 0 &&
              offsetof(eventlog::core::rseq_pieces, flags) ==
                  offsetof(eventlog::core::rseq_pieces, thread) + 4);

#if defined(__x86_64__) && defined(RSEQ_SIG)
#include "ring/x86_64/rseq_sequence.hpp"
#define EVENTLOG_HAS_SEQUENCES 1
#elif defined(__aarch64__) && defined(__LP64__) && !defined(__AARCH64EB__) && defined(RSEQ_SIG)
#include "ring/aarch64/rseq_sequence.hpp"
#define EVENTLOG_HAS_SEQUENCES 1
#else
#define EVENTLOG_HAS_SEQUENCES 0
#endif
