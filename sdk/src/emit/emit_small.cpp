// SPDX-License-Identifier: MIT
//
// The fast path of small events, which have up to three words and one text: stores them from
// registers into the ring. All other cases are left to the site's general function with the same
// arguments, and without an effect here: several listeners, another subscription than the last
// time, no room, another context of the ring, a text over 512 bytes, a thread's first event, no
// sequences.
//
// Each instruction adds to the cost of every event, and a compiler would save six registers first.
// So the function has no frame; it consists of one sequence, and a second one that counts. It has
// the steps of try_emit_fast in emit.cpp and rseq_append_block in rseq_append.hpp, in the same
// order, which is explained there. Longer texts have a sequence of their own, as in
// rseq_append_extended. Written for x86-64; on other processors all events use the
// site's general function, which is eventlog_emit_raw's or the like.
#include <linux/eventlog.h>

#include <cstddef>
#include <cstdint>

#include <eventlog/abi.h>
#include <eventlog/detail/encode.hpp>
#include <eventlog/detail/event_site.hpp>

#include "platform/process.hpp"
#include "provider/counters.hpp"
#include "provider/registered_provider.hpp"
#include "ring/gate_layout.hpp"
#include "ring/record_header.hpp"
#include "ring/rseq.hpp"
#include "ring/rseq_sequence.hpp"
#include "ring/subscription_slots.hpp"

#if defined(__x86_64__) && EVENTLOG_HAS_SEQUENCES

namespace {

using eventlog::core::attachment;
using eventlog::core::subscription_slot;

// The text is read once, while nothing is held, so it may be longer than those that the site's
// general function copies. Longer ones would make the sequence long.
constexpr std::size_t text_size_max = 512;
static_assert(text_size_max >= eventlog::detail::inline_var_fields_size);
// Up to this size of a text, the record is a short one whatever else its payload has.
constexpr std::size_t short_text_size_max = EVENTLOG_SHORT_SIZE_MAX - 3 * sizeof(std::uint64_t);
static_assert(short_text_size_max < text_size_max);
static_assert(short_text_size_max - 1 == 230, "a literal: g++ allows 30 operands");

// All three words are stored, however few the event has: this is how far they reach behind the
// smallest record, which has a text's word and NUL. The bytes there belong to later records, which
// overwrite them, but they must lie within the buffer.
constexpr std::size_t room_behind = 3 * sizeof(std::uint64_t) - 8;

// Offsets of the record and its payload from a register that points room_behind bytes behind the
// record's start.
constexpr int record_place = -static_cast<int>(room_behind);
constexpr int payload_place = record_place + EVENTLOG_SHORT_HEADER_SIZE;

// Literals in the function.
static_assert(eventlog::core::event_in_upper_half == 10 && EVENTLOG_EVENT_SHIFT == 42 &&
              std::uint64_t{EVENTLOG_KIND_EXTENDED} << EVENTLOG_KIND_SHIFT == std::uint64_t{1}
                                                                                  << 41U);

// The counters are in the page behind the gate words, which have a page of their own.
constexpr std::size_t page_mask = EVENTLOG_GATE_SIZE - 1;
constexpr std::size_t words_of_cpus = 1 + offsetof(eventlog_counters_page, written_by_cpu);
static_assert((EVENTLOG_GATE_SIZE & page_mask) == 0);
static_assert(offsetof(eventlog_ring, control) == 0);
static_assert(sizeof(eventlog::detail::event_site) == 64, "one line of the cache");

}  // namespace

/// Counts a record that was written by a thread that was interrupted before it counted.
extern "C" [[gnu::used, gnu::visibility("hidden")]] void eventlog_count_text(
    const eventlog_site* site) noexcept {
    if (const eventlog_provider* provider = site->provider; provider != nullptr) {
        eventlog::core::count(*provider, &eventlog_route_counters::written);
    }
}

// clang-format off
#define AREA "_ZN8eventlog4core9rseq_areaE(%%rip)"
#define THREAD_ID "_ZN8eventlog4core15known_thread_idE@gottpoff(%%rip)"

// The compiler must not add instructions: clang adds none to naked functions, gcc needs the
// attributes.
#if defined(__clang__)
#define NAKED_FUNCTION __attribute__((naked))
#else
#define NAKED_FUNCTION                                                                             \
    __attribute__((naked, no_stack_protector, no_instrument_function,                           \
                   no_profile_instrument_function, no_sanitize_coverage))
#endif

// The sequence's start and the position of the record. The clock is read first, as in
// rseq_append_block: then xmm1 and xmm7 are the parts of the time. Is the subscription of the
// provider's last event the only listener of this one? The mapping is loaded before the gate and
// compared after it. From then on rcx is the CPU, r11 the record's size in whole words, xmm2 what
// `head` has left in rdx, with the event's number and the size of the text in it.
#define START(head)                                                                            \
        EVENTLOG_SEQUENCE_START_IN("%%r11")                                                    \
        "rdtsc\n"                                                                              \
        "orq %%r10, %%rdx\n"                                                                   \
        "movq %%rax, %%xmm1\n"                                                                 \
        "movq %%rdx, %%xmm7\n"                                                                 \
        "movq %c[site_provider](%%rdi), %%rsi\n"                                               \
        "testq %%rsi, %%rsi\n"                                                                 \
        "jz 73f\n"                                                                             \
        "movq %c[latest](%%rsi), %%r10\n"                                                      \
        "movq %c[site_gate](%%rdi), %%rcx\n"                                                   \
        "movq %c[mapping](%%r10), %%rax\n"                                                      \
        "movl (%%rcx), %%ecx\n"                                                                \
        "cmpl %c[gate_bit](%%r10), %%ecx\n"                                                    \
        "jne 73f\n"                                                                            \
        "movq %c[site_head](%%rdi), %%rdx\n"                                                   \
        "addq %c[provider_head](%%r10), %%rdx\n"                                               \
        "movl %%fs:4(%%r11), %%ecx\n"                                                          \
        head                                                                                   \
        "movq %%rdx, %%xmm2\n"                                                                 \
        "movq %c[slot](%%r10), %%r10\n"                                                        \
        "cmpq %%rax, %c[slot_mapping](%%r10)\n"                                                 \
        "jne 73f\n"                                                                            \
        "cmpl %c[slot_cpus](%%r10), %%ecx\n"                                                   \
        "jae 73f\n"                                                                            \
        "movq %c[slot_state](%%r10), %%rax\n"                                                  \
        "cmpl %[live], (%%rax)\n"                                                              \
        "jne 73f\n"                                                                            \
        "movq %c[slot_ring_stride](%%r10), %%rdx\n"                                            \
        "imulq %%rcx, %%rdx\n"                                                                 \
        "addq %c[slot_rings](%%r10), %%rdx\n"  /* from here on: the ring */

// Requires room; rsi is the record's position plus room_behind.
#define LOCATE                                                                                 \
        "movq (%%rdx), %%rax\n"                                                                \
        "movl %%eax, %%esi\n"                                                                  \
        "andl %[position_mask], %%esi\n"                                                       \
        "leaq %c[room_behind](%%r11, %%rsi, 8), %%rsi\n"                                       \
        "cmpq %c[slot_buffer_size](%%r10), %%rsi\n"                                            \
        "ja 73f\n"                                                                             \
        "shrq $" EVENTLOG_GENERATION_TEXT ", %%rax\n"                                          \
        "andq %c[slot_buffer_mask](%%r10), %%rax\n"                                            \
        "imulq %c[slot_buffer_size](%%r10), %%rax\n"                                           \
        "subq %%r11, %%rsi\n"                                                                  \
        "addq %%rax, %%rsi\n"                                                                  \
        "movq %c[slot_ring_bytes](%%r10), %%rax\n"                                             \
        "imulq %%rcx, %%rax\n"                                                                 \
        "addq %%rax, %%rsi\n"                                                                  \
        "addq %c[slot_first_buffer](%%r10), %%rsi\n"

#define COMMIT                                                                                 \
        "shrq $3, %%r11\n"                                                                     \
        "addq %[one_record], %%r11\n"                                                          \
        "addq %%r11, (%%rdx)\n"                                                                \
        "72:\n"                                                                                \
        EVENTLOG_SEQUENCE_ABORT_IN(AREA, "movq %%xmm4, %%rsi\n"                                \
                                         "movhlps %%xmm4, %%xmm5\n"                            \
                                         "movq %%xmm5, %%rdx\n"                                \
                                         "movq %%xmm6, %%rcx\n"                                \
                                         "jmp *%c[site_emit](%%rdi)\n")

// Registers: rdi the site, r8 the text, r9 its size, r10 the thread in the upper half; xmm4 and
// xmm6 the words.
NAKED_FUNCTION void eventlog_emit_raw_text(const eventlog_site*, std::uint64_t, std::uint64_t,
                                    std::uint64_t, const void*, std::size_t) {
    asm volatile(
        // Before any store: while the thread id is unknown, nothing may be published yet, and then
        // the thread has no rseq area either.
        "movq " THREAD_ID ", %%rax\n"
        "movl %%fs:(%%rax), %%r10d\n"
        "shlq $32, %%r10\n"
        "jz 7f\n"
        "movq %%rsi, %%xmm4\n"
        "movq %%rdx, %%xmm5\n"
        "movq %%rcx, %%xmm6\n"
        "punpcklqdq %%xmm5, %%xmm4\n"
        "leaq -1(%%r9), %%rax\n"
        "cmpq $230, %%rax\n"
        "ja 8f\n"
        "movq " AREA ", %%r11\n"
        START("addq %%r9, %%rdx\n"
              "movzbl %%dl, %%r11d\n"
              "addl $15, %%r11d\n"
              "andl $-8, %%r11d\n"
              "shlq $32, %%rdx\n")
        "movq %%xmm7, %%rax\n"
        "cmpq %%rax, %c[ring_context](%%rdx)\n"
        "jne 73f\n"
        LOCATE

        // The last word first: it holds the text's NUL and the padding; later stores add the rest.
        "movq $0, %c[record] - 8(%%rsi, %%r11)\n"
        "por %%xmm1, %%xmm2\n"
        "movq %%xmm2, %c[record](%%rsi)\n"
        // Prefetch some records ahead: the reader's CPU may own that line, and fetching it back
        // takes long.
        "prefetchw 2048(%%rsi)\n"
        "movups %%xmm4, %c[payload](%%rsi)\n"
        "movq %%xmm6, %c[payload] + 16(%%rsi)\n"
        "movq %c[site_fixed_size](%%rdi), %%rax\n"
        "leaq %c[payload](%%rax, %%rsi), %%rsi\n"
        // The text. 8 to 16 characters: the first eight and the last eight. All branches precede
        // the commit, because it ends the sequence.
        "leaq -9(%%r9), %%rax\n"
        "cmpq $8, %%rax\n"
        "jbe 5f\n"
        "cmpq $17, %%r9\n"
        "jbe 2f\n"
        // Longer texts: from the end down, then the start.
        "subq $8, %%rax\n"
        "1:\n"
        "movups (%%r8, %%rax), %%xmm0\n"
        "movups %%xmm0, (%%rsi, %%rax)\n"
        "subq $16, %%rax\n"
        "ja 1b\n"
        "movups (%%r8), %%xmm0\n"
        "movups %%xmm0, (%%rsi)\n"
        "jmp 6f\n"
        // 4 to 7, then 2 or 3, then one, then none.
        "2:\n"
        "cmpq $5, %%r9\n"
        "jb 3f\n"
        "movd (%%r8), %%xmm0\n"
        "movd -5(%%r8, %%r9), %%xmm3\n"
        "movd %%xmm0, (%%rsi)\n"
        "movd %%xmm3, -5(%%rsi, %%r9)\n"
        "jmp 6f\n"
        "3:\n"
        "cmpq $2, %%r9\n"
        "jb 6f\n"
        "je 4f\n"
        "movzwl (%%r8), %%eax\n"
        "movw %%ax, (%%rsi)\n"
        "4:\n"
        "movzbl -2(%%r8, %%r9), %%eax\n"
        "movb %%al, -2(%%rsi, %%r9)\n"
        "jmp 6f\n"
        "5:\n"
        "movq (%%r8), %%xmm0\n"
        "movq -9(%%r8, %%r9), %%xmm3\n"
        "movq %%xmm0, (%%rsi)\n"
        "movq %%xmm3, -9(%%rsi, %%r9)\n"
        "6:\n"
        COMMIT

        "9:\n"
        "movq " AREA ", %%r11\n"
        "movq %c[site_gate](%%rdi), %%rdx\n"
        EVENTLOG_SEQUENCE_START_IN("%%r11")
        "cmpl %%ecx, %%fs:4(%%r11)\n"
        "jne 73f\n"
        "imull %c[slot_counter_stride](%%r10), %%ecx\n"
        "orq %[page_mask], %%rdx\n"
        "incq %c[words_of_cpus](%%rdx, %%rcx)\n"
        "72:\n"
        "movq $0, %%fs:8(%%r11)\n"
        "ret\n"
        EVENTLOG_SEQUENCE_ABORT_IN(AREA, "jmp eventlog_count_text\n")

        // An extended record.
        "8:\n"
        "cmpq %[text_size_max] - 1, %%rax\n"
        "ja 7f\n"
        "movq " AREA ", %%r11\n"
        START("movzbl %%dl, %%r11d\n"
              "addq %%r9, %%r11\n"
              "movq %%r11, %%xmm3\n"
              "addl $31, %%r11d\n"
              "andl $-8, %%r11d\n"
              "shrq $10, %%rdx\n"
              "shlq $42, %%rdx\n"
              "btsq $41, %%rdx\n")
        LOCATE
        "movq $0, %c[record] - 8(%%rsi, %%r11)\n"
        "por %%xmm1, %%xmm2\n"
        "punpcklqdq %%xmm7, %%xmm2\n"
        "movups %%xmm2, %c[record](%%rsi)\n"
        "prefetchw 2048(%%rsi)\n"
        "movd %%xmm3, %c[record] + 16(%%rsi)\n"
        "movl %%ecx, %c[record] + 20(%%rsi)\n"
        "movups %%xmm4, %c[payload] + 16(%%rsi)\n"
        "movq %%xmm6, %c[payload] + 32(%%rsi)\n"
        "movq %c[site_fixed_size](%%rdi), %%rax\n"
        "leaq %c[payload] + 16(%%rax, %%rsi), %%rsi\n"
        "leaq -17(%%r9), %%rax\n"
        "1:\n"
        "movups (%%r8, %%rax), %%xmm0\n"
        "movups %%xmm0, (%%rsi, %%rax)\n"
        "subq $16, %%rax\n"
        "ja 1b\n"
        "movups (%%r8), %%xmm0\n"
        "movups %%xmm0, (%%rsi)\n"
        COMMIT
        "jmp 9b\n"

        "7:\n"
        "jmp *%c[site_emit](%%rdi)\n"
        :
        : [text_size_max] "i"(text_size_max),
          [room_behind] "i"(room_behind),
          [record] "i"(record_place), [payload] "i"(payload_place), [page_mask] "i"(page_mask),
          [words_of_cpus] "i"(words_of_cpus), [live] "i"(EVENTLOG_REGION_LIVE),
          [ring_context] "i"(offsetof(eventlog_ring, context)),
          [position_mask] "i"(EVENTLOG_POSITION_MASK),
          [one_record] "i"(1U << EVENTLOG_COUNT_SHIFT),
          [site_provider] "i"(offsetof(eventlog_site, provider)),
          [site_emit] "i"(offsetof(eventlog_site, emit)),
          [site_head] "i"(offsetof(eventlog_site, head)),
          [site_fixed_size] "i"(offsetof(eventlog_site, fixed_size)),
          [site_gate] "i"(offsetof(eventlog_site, gate)),
          [latest] "i"(offsetof(eventlog_provider, latest)),
          [mapping] "i"(offsetof(attachment, mapping)),
          [gate_bit] "i"(offsetof(attachment, gate_bit)),
          [provider_head] "i"(offsetof(attachment, provider_head)),
          [slot] "i"(offsetof(attachment, slot)),
          [slot_mapping] "i"(offsetof(subscription_slot, mapping)),
          [slot_cpus] "i"(offsetof(subscription_slot, fast_cpus)),
          [slot_state] "i"(offsetof(subscription_slot, state)),
          [slot_ring_stride] "i"(offsetof(subscription_slot, ring_stride)),
          [slot_rings] "i"(offsetof(subscription_slot, rings)),
          [slot_buffer_mask] "i"(offsetof(subscription_slot, buffer_mask)),
          [slot_buffer_size] "i"(offsetof(subscription_slot, buffer_size)),
          [slot_ring_bytes] "i"(offsetof(subscription_slot, ring_bytes)),
          [slot_first_buffer] "i"(offsetof(subscription_slot, first_buffer)),
          [slot_counter_stride] "i"(offsetof(subscription_slot, counter_stride)));
}
// clang-format on

#else

void eventlog_emit_raw_text(const eventlog_site* site, std::uint64_t first, std::uint64_t second,
                            std::uint64_t third, const void* text, std::size_t size) {
    site->emit(site, first, second, third, text, size);
}

#endif
