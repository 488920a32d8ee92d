// SPDX-License-Identifier: MIT
//
// The restartable sequences of the linked library, by their descriptors for the kernel, which are
// an array in a separate section.
#pragma once

#include <cstdint>
#include <span>

namespace eventlog::test {

/// struct rseq_cs of linux/rseq.h, for which not every C library has a header.
struct alignas(32) sequence {
    std::uint32_t version;
    std::uint32_t flags;
    std::uint64_t start;
    std::uint64_t size;  // to the end of the last instruction
    std::uint64_t abort_handler;

    [[nodiscard]] std::uint64_t end() const { return start + size; }
    [[nodiscard]] bool contains(std::uint64_t address) const { return address - start < size; }
};

/// All sequences; empty if the library has none.
[[nodiscard]] std::span<const sequence> sequences();

/// The sequence of the instruction, or null.
[[nodiscard]] const sequence* sequence_at(std::uint64_t address);

/// Of the first instruction of a sequence that checks whether its descriptor has been set since the
/// clock was read: the instruction behind the check. 0 for others.
[[nodiscard]] std::uint64_t behind_check_at(std::uint64_t address);

/// The word in which the calling thread names its sequence to the kernel. The same address in a
/// forked child.
[[nodiscard]] std::uint64_t rseq_cs_address();

}  // namespace eventlog::test
