// SPDX-License-Identifier: MIT
#include "sequences.hpp"

#include <algorithm>
#include <cstddef>

#include "ring/rseq.hpp"

// The linker defines these symbols by the section's name. Weak, because the section may not exist.
extern "C" {
[[gnu::weak, gnu::visibility("hidden")]] extern const eventlog::test::sequence
    eventlog_first_sequence asm("__start___rseq_cs");
[[gnu::weak, gnu::visibility("hidden")]] extern const eventlog::test::sequence
    eventlog_end_of_sequences asm("__stop___rseq_cs");
[[gnu::visibility("hidden")]] extern const char eventlog_pieces_checked;
}

namespace eventlog::test {

std::span<const sequence> sequences() {
    const sequence* const first = &eventlog_first_sequence;
    return {first, &eventlog_end_of_sequences};
}

const sequence* sequence_at(std::uint64_t address) {
    const auto all = sequences();
    const auto found = std::find_if(all.begin(), all.end(), [address](const sequence& candidate) {
        return candidate.contains(address);
    });
    return found == all.end() ? nullptr : &*found;
}

std::uint64_t behind_check_at(std::uint64_t address) {
    const auto checked = reinterpret_cast<std::uint64_t>(&eventlog_pieces_checked);
    const sequence* const in = sequence_at(checked);
    return in != nullptr && in->start == address ? checked : 0;
}

std::uint64_t rseq_cs_address() {
    std::uint64_t thread = 0;
    asm("movq %%fs:0, %[thread]" : [thread] "=r"(thread));
    constexpr std::uint64_t rseq_cs_offset = 8;  // offsetof(struct rseq, rseq_cs)
    return thread + static_cast<std::uint64_t>(core::rseq_area) + rseq_cs_offset;
}

}  // namespace eventlog::test
