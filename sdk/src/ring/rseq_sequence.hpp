// SPDX-License-Identifier: MIT
//
// The parts that the restartable sequences of all processors share, as text and operands for inline
// assembly. A header for each processor defines the frame of a sequence, the steps that locate a
// record, and EVENTLOG_MEMBER, which addresses a member of a struct: EVENTLOG_MEMBER(slot,
// mapping).
//
// The thread's rseq area, which glibc registers with the kernel at __rseq_offset from the thread
// pointer, has cpu_id at 4 and rseq_cs at 8. Labels: 70 descriptor, 71 start, 72 behind the last
// instruction, 73 aborted, 74 changed, 75 stale, 76 elsewhere, 78 other context, 79 abort handler.
// The kernel requires a signature in front of the handler; it is encoded in an instruction that
// traps.
//
// Every exit clears the pointer to the descriptor: this object might be unloaded before the next
// preemption of the thread.
#pragma once

#include <linux/eventlog.h>

#include <cstddef>

#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#endif

#include "ring/rseq.hpp"
#include "ring/subscription_slots.hpp"

// clang-format off
// A literal instead of an operand: g++ allows 30 operands and labels.
#define EVENTLOG_TEXT_OF(number) #number
#define EVENTLOG_TEXT_OF_MACRO(macro) EVENTLOG_TEXT_OF(macro)
#define EVENTLOG_GENERATION_TEXT EVENTLOG_TEXT_OF_MACRO(EVENTLOG_GENERATION_SHIFT)

#define EVENTLOG_SEQUENCE_DESCRIPTOR            \
    ".pushsection __rseq_cs, \"aw\"\n"          \
    ".balign 32\n"                              \
    "70:\n"                                     \
    ".long 0, 0\n"                              \
    ".quad 71f, 72f - 71f, 79f\n"               \
    ".popsection\n"

// For a function with a label that others refer to.
#if __has_cpp_attribute(gnu::noclone)
#define EVENTLOG_ONE_INSTANCE [[gnu::noinline, gnu::noclone]]
#else
#define EVENTLOG_ONE_INSTANCE [[gnu::noinline]]
#endif

// In front of the descriptor of rseq_append_pieces, for rseq_arm_pieces. Global, because an
// optimization at link time may move the two apart.
#define EVENTLOG_PIECES_LABEL                   \
    ".pushsection __rseq_cs, \"aw\"\n"          \
    ".balign 32\n"                              \
    ".globl eventlog_pieces_sequence\n"         \
    ".hidden eventlog_pieces_sequence\n"        \
    "eventlog_pieces_sequence:\n"               \
    ".popsection\n"

// Behind the check that rseq_append_pieces begins with. Tests pass it for a thread that they stop.
#define EVENTLOG_PIECES_CHECKED                 \
    ".globl eventlog_pieces_checked\n"          \
    ".hidden eventlog_pieces_checked\n"         \
    "eventlog_pieces_checked:\n"

// Ends the sequence: label 72, then no descriptor is set any more.
#define EVENTLOG_SEQUENCE_END                   \
    "72:\n"                                     \
    EVENTLOG_SEQUENCE_CLEAR

// The exit at a label: jumps to the goto label `target`.
#define EVENTLOG_SEQUENCE_EXIT(label, target)   \
    label ":\n"                                 \
    EVENTLOG_SEQUENCE_CLEAR                     \
    EVENTLOG_SEQUENCE_JUMP(target)

// The abort handler. Its signature traps if it is reached without a jump.
#define EVENTLOG_SEQUENCE_ABORT(target)         \
    EVENTLOG_SEQUENCE_SIGNATURE                 \
    "79:\n"                                     \
    EVENTLOG_SEQUENCE_EXIT("73", target)

// All exits. Behind label 72.
#define EVENTLOG_SEQUENCE_EXITS                 \
    EVENTLOG_SEQUENCE_EXITS_BEGIN               \
    EVENTLOG_SEQUENCE_ABORT("aborted")          \
    EVENTLOG_SEQUENCE_EXIT("74", "changed")     \
    EVENTLOG_SEQUENCE_EXIT("75", "stale")       \
    EVENTLOG_SEQUENCE_EXIT("76", "elsewhere")   \
    EVENTLOG_SEQUENCE_EXITS_END

// All exits of a sequence that requires the ring's context.
#define EVENTLOG_SEQUENCE_CONTEXT_EXITS         \
    EVENTLOG_SEQUENCE_EXITS_BEGIN               \
    EVENTLOG_SEQUENCE_ABORT("aborted")          \
    EVENTLOG_SEQUENCE_EXIT("74", "changed")     \
    EVENTLOG_SEQUENCE_EXIT("75", "stale")       \
    EVENTLOG_SEQUENCE_EXIT("76", "elsewhere")   \
    EVENTLOG_SEQUENCE_EXIT("78", "other_context") \
    EVENTLOG_SEQUENCE_EXITS_END

// The exit of a sequence that can only be aborted.
#define EVENTLOG_SEQUENCE_ABORT_EXIT(target)    \
    EVENTLOG_SEQUENCE_EXITS_BEGIN               \
    EVENTLOG_SEQUENCE_ABORT(target)             \
    EVENTLOG_SEQUENCE_EXITS_END

// Ends the function: done, or the result of the goto label that the sequence jumped to.
#define EVENTLOG_SEQUENCE_RESULTS               \
    return rseq_result::done;                   \
    aborted: return rseq_result::aborted;       \
    changed: return rseq_result::changed;       \
    stale: return rseq_result::stale;           \
    elsewhere: return rseq_result::elsewhere;

// Offsets of the members that the operands address. `cpus` is the member of the slot that limits
// the CPUs of the sequence.
#define EVENTLOG_SLOT_MEMBERS(cpus)                                                     \
    [slot_cpus] "i"(offsetof(subscription_slot, cpus)),                                 \
    [slot_mapping] "i"(offsetof(subscription_slot, mapping)),                             \
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
    [record_is_armed] "i"(offsetof(rseq_pieces, is_armed)),                             \
    [record_thread] "i"(offsetof(rseq_pieces, thread)),                                 \
    [record_extended] "i"(offsetof(rseq_pieces, extended)),                             \
    [record_units] "i"(offsetof(rseq_pieces, units)),                                   \
    [record_pieces] "i"(offsetof(rseq_pieces, pieces)),                                 \
    [record_end] "i"(offsetof(rseq_pieces, end)),                                       \
    [record_padding] "i"(offsetof(rseq_pieces, padding))

#define EVENTLOG_TARGET_MEMBERS                                                          \
    [place_cpu] "i"(offsetof(rseq_target, cpu)),                                         \
    [place_slot_mapping] "i"(offsetof(rseq_target, slot_mapping)),                         \
    [place_mapping] "i"(offsetof(rseq_target, mapping)),                                   \
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

// Offsets that are literals in the sequences.
static_assert(EVENTLOG_SHORT_HEADER_SIZE == 8 && EVENTLOG_CONTEXT_HEADER_SIZE == 16 &&
              EVENTLOG_EXTENDED_HEADER_SIZE == 24 && EVENTLOG_KIND_SHORT == 0);
static_assert(EVENTLOG_THREAD_SHIFT == 32);
static_assert(EVENTLOG_CPU_SHIFT == 32);
static_assert(offsetof(eventlog_ring, control) == 0 && offsetof(eventlog_ring, lost) == 8 &&
              offsetof(eventlog_ring, context) == 16);
static_assert(sizeof(eventlog_buffer) == 1U << 5U);
static_assert(offsetof(eventlog_buffer, generation) == 0 &&
              offsetof(eventlog_buffer, records_before) == 8 &&
              offsetof(eventlog_buffer, lost_before) == 16 &&
              offsetof(eventlog_buffer, sealed) == 24);
static_assert(sizeof(eventlog_part) == 16 && offsetof(eventlog_part, size) == 8);
static_assert(offsetof(eventlog::core::rseq_pieces, head) == 0);

#if defined(__x86_64__) && defined(RSEQ_SIG)
#include "ring/x86_64/rseq_sequence.hpp"
#define EVENTLOG_HAS_SEQUENCES 1
#elif defined(__aarch64__) && defined(__LP64__) && !defined(__AARCH64EB__) && defined(RSEQ_SIG)
#include "ring/aarch64/rseq_sequence.hpp"
#define EVENTLOG_HAS_SEQUENCES 1
#else
#define EVENTLOG_HAS_SEQUENCES 0
#endif
