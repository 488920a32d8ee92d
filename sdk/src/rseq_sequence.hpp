// SPDX-License-Identifier: MIT
//
// The frame of a restartable sequence on x86-64, as text for inline assembly.
//
// In the thread's area, which glibc registers with the kernel at fs:__rseq_offset: cpu_id at 4,
// rseq_cs at 8. Labels: 70 descriptor, 71
// start, 72 behind the last instruction, 73 aborted, 74 changed, 75 stale, 76 elsewhere, 79 abort
// handler. The handler stands behind the signature that the kernel asks for, made part of an
// instruction that traps (ud1), in a section of its own.
//
// Whichever way it is left, the pointer to the descriptor is taken back: this object might be
// unloaded before the thread is preempted next.
#pragma once

#if defined(__x86_64__) && __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#endif

#if defined(__x86_64__) && defined(RSEQ_SIG)

static_assert(RSEQ_SIG == 0x53053053, "the signature stands in front of each label 79");

// clang-format off
#define EVENTLOG_SEQUENCE_START EVENTLOG_SEQUENCE_START_IN("%[area]")

// `area` is a register with the place of the thread's area. Uses rax.
#define EVENTLOG_SEQUENCE_START_IN(area)        \
    ".pushsection __rseq_cs, \"aw\"\n"          \
    ".balign 32\n"                              \
    "70:\n"                                     \
    ".long 0, 0\n"                              \
    ".quad 71f, 72f - 71f, 79f\n"               \
    ".popsection\n"                             \
    "leaq 70b(%%rip), %%rax\n"                  \
    "movq %%rax, %%fs:8(" area ")\n"             \
    "71:\n"

#define EVENTLOG_SEQUENCE_END                   \
    "72:\n"                                     \
    "movq $0, %%fs:8(%[area])\n"

// The abort handler, which leaves for a goto label of that name.
#define EVENTLOG_SEQUENCE_ABORT(label)          \
    ".byte 0x0f, 0xb9, 0x3d\n"                  \
    ".long 0x53053053\n"                        \
    "79:\n"                                     \
    "73:\n"                                     \
    "movq $0, %%fs:8(%[area])\n"                \
    "jmp %l[" label "]\n"

// The same for code without goto labels: loads the area's place from memory, `kept_in`, and leaves
// by the instructions `way_out`. Uses r11.
#define EVENTLOG_SEQUENCE_ABORT_IN(kept_in, way_out) \
    ".pushsection __rseq_failure, \"ax\"\n"         \
    ".byte 0x0f, 0xb9, 0x3d\n"                      \
    ".long 0x53053053\n"                            \
    "79:\n"                                         \
    "73:\n"                                         \
    "movq " kept_in ", %%r11\n"                     \
    "movq $0, %%fs:8(%%r11)\n"                      \
    way_out                                         \
    ".popsection\n"

// Behind EVENTLOG_SEQUENCE_END; goto labels of those names.
#define EVENTLOG_SEQUENCE_WAYS_OUT              \
    ".pushsection __rseq_failure, \"ax\"\n"     \
    EVENTLOG_SEQUENCE_ABORT("aborted")          \
    "74:\n"                                     \
    "movq $0, %%fs:8(%[area])\n"                \
    "jmp %l[changed]\n"                         \
    "75:\n"                                     \
    "movq $0, %%fs:8(%[area])\n"                \
    "jmp %l[stale]\n"                           \
    "76:\n"                                     \
    "movq $0, %%fs:8(%[area])\n"                \
    "jmp %l[elsewhere]\n"                       \
    ".popsection\n"

// What the function returns: done, or what the label says that the sequence jumped to.
#define EVENTLOG_SEQUENCE_RESULTS               \
    return rseq_result::done;                   \
    aborted: return rseq_result::aborted;       \
    changed: return rseq_result::changed;       \
    stale: return rseq_result::stale;           \
    elsewhere: return rseq_result::elsewhere;

// A member of a struct whose address and offset are operands: EVENTLOG_MEMBER(slot, serial).
#define EVENTLOG_MEMBER(object, member) "%c[" #object "_" #member "](%[" #object "])"

// Finds the place for a record of `units` (a register) in the ring of the CPU that this runs on:
// r8 = ring, r9 = record, rcx = CPU. Uses rax, rdx. (Results of an asm goto would save registers, but
// g++ before 12.4 gets them wrong.) A thread that has no sequences has no CPU in its area either and
// leaves before it reads the region: nothing would keep that mapped.
#define EVENTLOG_SEQUENCE_FIND_PLACE(units)                             \
    "movl %%fs:4(%[area]), %%ecx\n"                                      \
    "cmpq %[serial], " EVENTLOG_MEMBER(slot, serial) "\n"               \
    "jne 75f\n"                                                         \
    "cmpl " EVENTLOG_MEMBER(slot, cpus) ", %%ecx\n"                    \
    "jae 76f\n"                                                         \
    "movq " EVENTLOG_MEMBER(slot, state) ", %%rax\n"                    \
    "cmpl %[live], (%%rax)\n"                                           \
    "jne 75f\n"                                                         \
    "movq " EVENTLOG_MEMBER(slot, ring_stride) ", %%r8\n"               \
    "imulq %%rcx, %%r8\n"                                               \
    "addq " EVENTLOG_MEMBER(slot, rings) ", %%r8\n"                     \
    "movq (%%r8), %%rax\n"                                              \
    "movl %%eax, %%edx\n"                                               \
    "andl %[position_mask], %%edx\n"                                    \
    "leaq (%%rdx, " units "), %%r9\n"                                   \
    "cmpq " EVENTLOG_MEMBER(slot, buffer_units) ", %%r9\n"              \
    "ja 74f\n"                                                          \
    "shrq %[generation_shift], %%rax\n"                                 \
    "andq " EVENTLOG_MEMBER(slot, buffer_mask) ", %%rax\n"              \
    "imulq " EVENTLOG_MEMBER(slot, buffer_size) ", %%rax\n"             \
    "leaq (%%rax, %%rdx, 8), %%rax\n"                                   \
    "movq " EVENTLOG_MEMBER(slot, ring_bytes) ", %%r9\n"                \
    "imulq %%rcx, %%r9\n"                                               \
    "addq " EVENTLOG_MEMBER(slot, first_buffer) ", %%r9\n"              \
    "addq %%rax, %%r9\n"

// Writes the processor's clock to the record.
#define EVENTLOG_SEQUENCE_READ_TSC              \
    "rdtsc\n"                                   \
    "movl %%eax, 8(%%r9)\n"                     \
    "movl %%edx, 12(%%r9)\n"

// Few of them in registers: with the stack aligned, and a frame pointer, sanitizers leave 13 in all.
// `cpus` is the member that says how many rings the sequence may write to.
#define EVENTLOG_SLOT_OPERANDS(cpus)                                                           \
    [area] "r"(rseq_area), [slot] "r"(&slot), [serial] "r"(serial),                                                \
    [slot_cpus] "i"(offsetof(subscription_slot, cpus)),                                    \
    [live] "i"(EVENTLOG_REGION_LIVE), [position_mask] "i"(EVENTLOG_POSITION_MASK),          \
    [generation_shift] "i"(EVENTLOG_GENERATION_SHIFT),                                      \
    [slot_serial] "i"(offsetof(subscription_slot, serial)),                                 \
    [slot_state] "i"(offsetof(subscription_slot, state)),                                   \
    [slot_ring_stride] "i"(offsetof(subscription_slot, ring_stride)),                       \
    [slot_rings] "i"(offsetof(subscription_slot, rings)),                                   \
    [slot_buffer_units] "i"(offsetof(subscription_slot, buffer_units)),                     \
    [slot_buffer_mask] "i"(offsetof(subscription_slot, buffer_mask)),                       \
    [slot_buffer_size] "i"(offsetof(subscription_slot, buffer_size)),                       \
    [slot_ring_bytes] "i"(offsetof(subscription_slot, ring_bytes)),                         \
    [slot_first_buffer] "i"(offsetof(subscription_slot, first_buffer))
// clang-format on

#define EVENTLOG_HAS_SEQUENCES 1
#else
#define EVENTLOG_HAS_SEQUENCES 0
#endif
