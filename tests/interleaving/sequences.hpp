// SPDX-License-Identifier: MIT
//
// The restartable sequences of the library that this program is linked with, as the kernel is told
// of them: their descriptors stand one behind the other in a section of their own.
#pragma once

#include <cstdint>
#include <span>

namespace eventlog::test {

/// What linux/rseq.h calls rseq_cs, which not every C library has a header for.
struct alignas(32) sequence {
    std::uint32_t version;
    std::uint32_t flags;
    std::uint64_t start;
    std::uint64_t size;  // up to behind the last instruction
    std::uint64_t abort_handler;

    [[nodiscard]] std::uint64_t end() const { return start + size; }
    [[nodiscard]] bool contains(std::uint64_t address) const { return address - start < size; }
};

/// All of them; none where the library has none.
[[nodiscard]] std::span<const sequence> sequences();

/// The one that the instruction belongs to, or null.
[[nodiscard]] const sequence* sequence_at(std::uint64_t address);

/// Where the calling thread tells the kernel which sequence it is in. The same address in a forked
/// child.
[[nodiscard]] std::uint64_t rseq_cs_address();

}  // namespace eventlog::test
