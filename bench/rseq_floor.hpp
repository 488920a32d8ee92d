// SPDX-License-Identifier: MIT
//
// The floor: the least work that a per-CPU ring with restartable sequences needs to leave a record
// like eventlog's, with its time. One ring for each CPU; no filter, no choice or loss of
// subscriptions, no reader, and a full ring starts over.
//
// It shares only the record's layout with the library.
#pragma once

#include <sys/rseq.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace bench {

#if defined(__x86_64__) && defined(RSEQ_SIG)
#define BENCH_HAS_RSEQ_FLOOR 1

class rseq_floor {
  public:
    // The size of a listener's buffers of one CPU, so that both miss the same caches.
    static constexpr std::size_t ring_size = std::size_t{16} << 20U;

    /// Whether glibc has registered this thread.
    [[nodiscard]] static bool available() noexcept;

    /// Throws failure.
    rseq_floor();
    ~rseq_floor();
    rseq_floor(const rseq_floor&) = delete;
    rseq_floor& operator=(const rseq_floor&) = delete;

    [[gnu::always_inline]] void emit(std::uint64_t sequence, std::uint32_t bytes,
                                     std::uint32_t window, std::string_view reason) const noexcept;

    /// The number of records in the rings, if all have that size.
    [[nodiscard]] std::size_t count_records(std::size_t size) const noexcept;

  private:
    // The word in front of a record: its size, without the word, and the low half of its time.
    static constexpr std::size_t header_size = 8;
    static constexpr unsigned size_shift = 32;

    static constexpr std::size_t fixed_size = 20;  // bytes of the payload in front of the text
    static constexpr std::size_t text_size_max = 512;

    // Distance of the rings; the position is in front of the records.
    static constexpr unsigned stride_shift = 25;
    static constexpr std::size_t records_offset = 4096;
    static_assert(records_offset + ring_size < std::size_t{1} << stride_shift);

    [[gnu::always_inline]] void append(std::uint64_t head, const unsigned char* payload,
                                       std::size_t payload_size) const noexcept;

    unsigned char* rings_ = nullptr;
    std::size_t mapped_size_ = 0;
};

inline void rseq_floor::emit(std::uint64_t sequence, std::uint32_t bytes, std::uint32_t window,
                             std::string_view reason) const noexcept {
    if (reason.size() > text_size_max) [[unlikely]] {
        return;
    }
    alignas(16) unsigned char payload[(fixed_size + text_size_max + 1 + 15) / 16 * 16];
    const std::size_t size = fixed_size + reason.size() + 1;
    const std::size_t padded_size = (size + 7) & ~std::size_t{7};
    std::memset(payload + padded_size - 8, 0, 8);  // the padding and the text's NUL
    const auto text_word = static_cast<std::uint32_t>((reason.size() + 1) << 16U);
    std::memcpy(payload, &sequence, sizeof sequence);
    std::memcpy(payload + 8, &bytes, sizeof bytes);
    std::memcpy(payload + 12, &window, sizeof window);
    std::memcpy(payload + 16, &text_word, sizeof text_word);
    std::memcpy(payload + fixed_size, reason.data(), reason.size());
    append(std::uint64_t{size} << size_shift, payload, padded_size);
}

// In the thread's area: cpu_id at 4, rseq_cs at 8. The CPU is read inside the sequence, so it needs
// no comparison: on another CPU the sequence restarts. Labels: 70 descriptor, 71 start, 72 behind
// the commit, 73 restart. The descriptor stays in the area afterwards: the kernel removes it when
// the thread is elsewhere, and this code is never unloaded.
inline void rseq_floor::append(std::uint64_t head, const unsigned char* payload,
                               std::size_t payload_size) const noexcept {
    asm volatile(
        ".pushsection __rseq_cs, \"aw\"\n"
        ".balign 32\n"
        "70: .long 0, 0\n"
        ".quad 71f, 72f - 71f, 79f\n"
        ".popsection\n"
        "73: leaq 70b(%%rip), %%rax\n"
        "movq %%rax, %%fs:8(%[area])\n"
        "71: movl %%fs:4(%[area]), %%r8d\n"
        "shlq %[stride_shift], %%r8\n"
        "addq %[rings], %%r8\n"  // the ring
        "movq (%%r8), %%rsi\n"   // the position
        "leaq 8(%%rsi, %[payload_size]), %%r9\n"
        "cmpq %[ring_size], %%r9\n"
        "jbe 74f\n"
        "xorl %%esi, %%esi\n"
        "leaq 8(%[payload_size]), %%r9\n"
        "74: leaq %c[records_offset](%%r8, %%rsi), %%rdi\n"
        "rdtsc\n"
        "orq %[head], %%rax\n"
        "movq %%rax, (%%rdi)\n"
        // 16 bytes at a time: the excess is behind the position, where it is not read.
        "xorl %%eax, %%eax\n"
        "75: movaps (%[payload], %%rax), %%xmm0\n"
        "movups %%xmm0, 8(%%rdi, %%rax)\n"
        "addq $16, %%rax\n"
        "cmpq %[payload_size], %%rax\n"
        "jb 75b\n"
        "movq %%r9, (%%r8)\n"  // the commit
        "72:\n"
        ".pushsection __rseq_failure, \"ax\"\n"
        // The signature that the kernel requires, as part of an instruction that traps (ud1).
        ".byte 0x0f, 0xb9, 0x3d\n"
        ".long %c[signature]\n"
        "79: jmp 73b\n"
        ".popsection\n"
        :
        : [area] "r"(__rseq_offset), [rings] "r"(rings_), [payload] "r"(payload),
          [payload_size] "r"(payload_size), [head] "r"(head), [stride_shift] "i"(stride_shift),
          [ring_size] "i"(ring_size), [records_offset] "i"(records_offset),
          [signature] "i"(RSEQ_SIG)
        : "rax", "rdx", "rsi", "rdi", "r8", "r9", "xmm0", "memory", "cc");
}

#else
#define BENCH_HAS_RSEQ_FLOOR 0
#endif

}  // namespace bench
