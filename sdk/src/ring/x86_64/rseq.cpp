// SPDX-License-Identifier: MIT
//
// The steps of rseq.hpp on x86-64.
#include "ring/rseq.hpp"

#include "ring/rseq_sequence.hpp"
#include "ring/subscription_slots.hpp"

#if defined(__x86_64__) && EVENTLOG_HAS_SEQUENCES

namespace eventlog::core {

std::uint32_t rseq_cpu() noexcept {
    std::uint32_t cpu = 0;
    asm("movl %%fs:(%[area]), %[cpu]" : [cpu] "=r"(cpu) : [area] "r"(__rseq_offset));
    return cpu;
}

void rseq_arm_pieces() noexcept {
    // clang-format off
    asm volatile(
        "leaq eventlog_pieces_sequence(%%rip), %%rax\n\t"
        "movq %%rax, %%fs:8(%[area])"
        :
        : [area] "r"(rseq_area)
        : "rax", "memory");
    // clang-format on
}

EVENTLOG_ONE_INSTANCE rseq_result rseq_append_pieces(const subscription_slot& slot,
                                                     std::uint64_t mapping,
                                                     const rseq_pieces& record) noexcept {
    // clang-format off
    asm goto(
        EVENTLOG_PIECES_LABEL
        EVENTLOG_SEQUENCE_DESCRIPTOR
        "leaq 70b(%%rip), %%rax\n"
        "cmpq $0, " EVENTLOG_MEMBER(record, is_armed) "\n"
        "jne 71f\n"
        "movq %%rax, %%fs:8(%[area])\n"
        "71:\n"
        "cmpq %%rax, %%fs:8(%[area])\n"
        "jne 73f\n"
        EVENTLOG_PIECES_CHECKED
        "movq " EVENTLOG_MEMBER(record, units) ", %%rsi\n"
        EVENTLOG_SEQUENCE_LOCATE_RECORD("%%rsi")
        "shlq $32, %%rcx\n"
        "orq " EVENTLOG_MEMBER(record, extended) ", %%rcx\n"
        "movq %%rcx, 16(%%r9)\n"
        "movq " EVENTLOG_MEMBER(record, time) ", %%rax\n"
        "movq %%rax, %%rdx\n"
        "shrq $32, %%rdx\n"
        "testq %%rax, %%rax\n"
        "jnz 1f\n"
        "rdtsc\n"
        "1:\n"
        "movl %%eax, %%eax\n"
        "orq (%[record]), %%rax\n"
        "movq %%rax, (%%r9)\n"
        "orq " EVENTLOG_MEMBER(record, thread) ", %%rdx\n"
        "movq %%rdx, 8(%%r9)\n"
        "leaq 24(%%r9), %%rdi\n"
        "movq " EVENTLOG_MEMBER(record, pieces) ", %%rdx\n"
        "2:\n"
        "movq (%%rdx), %%rsi\n"
        "movq 8(%%rdx), %%rcx\n"
        "rep movsb\n"
        "addq $16, %%rdx\n"
        "cmpq " EVENTLOG_MEMBER(record, end) ", %%rdx\n"
        "jne 2b\n"
        "xorl %%eax, %%eax\n"
        "movq " EVENTLOG_MEMBER(record, padding) ", %%rcx\n"
        "rep stosb\n"
        "movq " EVENTLOG_MEMBER(record, units) ", %%rax\n"
        "addq %[one_record], %%rax\n"
        "addq %%rax, (%%r8)\n"
        EVENTLOG_SEQUENCE_END
        EVENTLOG_SEQUENCE_EXITS
        :
        : EVENTLOG_SLOT_OPERANDS(sequence_cpus), [record] "r"(&record),
          EVENTLOG_PIECES_MEMBERS,
          [one_record] "i"(1U << EVENTLOG_COUNT_SHIFT)
        : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "memory", "cc"
        : aborted, changed, stale, elsewhere);
    EVENTLOG_SEQUENCE_RESULTS
    // clang-format on
}

rseq_result rseq_append_context(const subscription_slot& slot, std::uint64_t mapping,
                                std::uint64_t head, std::uint64_t context, std::uint64_t units,
                                const void* payload) noexcept {
    // B may run on another CPU, or after this ring has had any number of records. A leaves for it:
    // rcx the CPU, r8 the ring, r9 the committed control word, rdx the buffer's descriptor, xmm1
    // its generation, xmm2 the context.
    head |= std::uint64_t{EVENTLOG_KIND_CONTEXT} << EVENTLOG_KIND_SHIFT;
    // clang-format off
    asm goto(
        EVENTLOG_SEQUENCE_START
        "rdtsc\n"
        "orq %[context], %%rdx\n"
        "movq %%rax, %%xmm1\n"
        "movq %%rdx, %%xmm2\n"
        EVENTLOG_SEQUENCE_LOCATE_RECORD("%[units]")
        "movq $0, 16(%%r8)\n"
        "movq %%xmm1, %%rax\n"
        "orq %[head], %%rax\n"
        "movq %%rax, (%%r9)\n"
        "movq %%xmm2, 8(%%r9)\n"
        "movq %[units], %%rdx\n"
        "subq $2, %%rdx\n"
        "jz 3f\n"
        "2:\n"
        "movq -8(%[payload], %%rdx, 8), %%rax\n"
        "movq %%rax, 8(%%r9, %%rdx, 8)\n"
        "decq %%rdx\n"
        "jnz 2b\n"
        "3:\n"
        "movq (%%r8), %%r9\n"
        "movq %%r9, %%rdx\n"
        "shrq $" EVENTLOG_GENERATION_TEXT ", %%rdx\n"
        "andq " EVENTLOG_MEMBER(slot, buffer_mask) ", %%rdx\n"
        "shlq $5, %%rdx\n"
        "addq %%r8, %%rdx\n"
        "movq %c[descriptors](%%rdx), %%xmm1\n"
        "leaq %c[one_record](%%r9, %[units]), %%r9\n"
        "movq %%r9, (%%r8)\n"
        "72:\n"
        EVENTLOG_SEQUENCE_EXITS
        EVENTLOG_SEQUENCE_START
        "cmpl %%ecx, %%fs:4(%[area])\n"
        "jne 73f\n"
        "cmpq %[mapping], " EVENTLOG_MEMBER(slot, mapping) "\n"
        "jne 73f\n"
        "cmpq %%r9, (%%r8)\n"
        "jne 73f\n"
        "movq %%xmm1, %%rax\n"
        "cmpq %%rax, %c[descriptors](%%rdx)\n"
        "jne 73f\n"
        "movq %%xmm2, 16(%%r8)\n"
        EVENTLOG_SEQUENCE_END
        EVENTLOG_SEQUENCE_ABORT_EXIT("skipped")
        :
        : EVENTLOG_SLOT_OPERANDS(fast_cpus), [head] "r"(head), [context] "r"(context),
          [units] "r"(units), [payload] "r"(payload),
          [one_record] "i"(1U << EVENTLOG_COUNT_SHIFT), [descriptors] "i"(sizeof(eventlog_ring))
        : "rax", "rcx", "rdx", "r8", "r9", "xmm1", "xmm2", "memory", "cc"
        : aborted, changed, stale, elsewhere, skipped);
    EVENTLOG_SEQUENCE_RESULTS
skipped:
    return rseq_result::done;
    // clang-format on
}

// Start of the steps below, which require that the thread is on the CPU of the target; else
// aborted. r8 = ring.
// clang-format off
#define SEQUENCE_AT_TARGET                               \
    EVENTLOG_SEQUENCE_START                             \
    "movl " EVENTLOG_MEMBER(place, cpu) ", %%eax\n"     \
    "cmpl %%eax, %%fs:4(%[area])\n"                     \
    "jne 73f\n"                                         \
    "movq " EVENTLOG_MEMBER(place, slot_mapping) ", %%rax\n" \
    "movq (%%rax), %%rax\n"                             \
    "cmpq %%rax, " EVENTLOG_MEMBER(place, mapping) "\n"  \
    "jne 75f\n"                                         \
    "movq " EVENTLOG_MEMBER(place, ring) ", %%r8\n"

// Requires that the control word is the expected one, and leaves it in rax; else changed.
#define EXPECT_CONTROL(expected)                        \
    "movq " expected ", %%rax\n"                        \
    "cmpq %%rax, (%%r8)\n"                              \
    "jne 74f\n"

#define TARGET_OPERANDS [area] "r"(rseq_area), [place] "r"(&place), EVENTLOG_TARGET_MEMBERS

rseq_result rseq_switch_buffers(const rseq_target& place, const rseq_switch& step) noexcept {
    // The control word holds only the low bits of the generation; the descriptor confirms the rest.
    asm goto(
        SEQUENCE_AT_TARGET
        EXPECT_CONTROL(EVENTLOG_MEMBER(step, expected))
        "movq " EVENTLOG_MEMBER(step, current) ", %%rcx\n"
        "movq " EVENTLOG_MEMBER(step, generation) ", %%rax\n"
        "cmpq %%rax, (%%rcx)\n"
        "jne 74f\n"
        "movq " EVENTLOG_MEMBER(step, sealed) ", %%rdx\n"
        "movq %%rdx, 24(%%rcx)\n"
        "movq " EVENTLOG_MEMBER(step, next) ", %%rcx\n"
        "addq $1, %%rax\n"
        "movq %%rax, (%%rcx)\n"
        "movq " EVENTLOG_MEMBER(step, records_before) ", %%rax\n"
        "movq %%rax, 8(%%rcx)\n"
        "movq 8(%%r8), %%rax\n"
        "movq %%rax, 16(%%rcx)\n"
        "movq $0, 24(%%rcx)\n"
        "movq $0, 16(%%r8)\n"  // a buffer begins without a context
        "movq " EVENTLOG_MEMBER(step, control) ", %%rax\n"
        "movq %%rax, (%%r8)\n"
        EVENTLOG_SEQUENCE_END
        EVENTLOG_SEQUENCE_EXITS
        :
        : TARGET_OPERANDS, [step] "r"(&step),
          EVENTLOG_SWITCH_MEMBERS
        : "rax", "rcx", "rdx", "r8", "memory", "cc"
        : aborted, changed, stale, elsewhere);
    EVENTLOG_SEQUENCE_RESULTS
}

rseq_result rseq_seal(const rseq_target& place, std::uint64_t expected, eventlog_buffer* current,
                      std::uint64_t control) noexcept {
    asm goto(
        SEQUENCE_AT_TARGET
        EXPECT_CONTROL("%[expected]")
        "movq %%rax, 24(%[current])\n"
        "movq %[control], %%rax\n"
        "movq %%rax, (%%r8)\n"
        EVENTLOG_SEQUENCE_END
        EVENTLOG_SEQUENCE_EXITS
        :
        : TARGET_OPERANDS, [expected] "r"(expected), [current] "r"(current),
          [control] "r"(control)
        : "rax", "r8", "memory", "cc"
        : aborted, changed, stale, elsewhere);
    EVENTLOG_SEQUENCE_RESULTS
}

rseq_result rseq_count_lost(const rseq_target& place, std::uint64_t expected) noexcept {
    asm goto(
        SEQUENCE_AT_TARGET
        EXPECT_CONTROL("%[expected]")
        "incq 8(%%r8)\n"
        EVENTLOG_SEQUENCE_END
        EVENTLOG_SEQUENCE_EXITS
        :
        : TARGET_OPERANDS, [expected] "r"(expected)
        : "rax", "r8", "memory", "cc"
        : aborted, changed, stale, elsewhere);
    EVENTLOG_SEQUENCE_RESULTS
}
// clang-format on

}  // namespace eventlog::core

#endif
