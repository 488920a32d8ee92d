// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include <eventlog/eventlog.hpp>

namespace bench {

/// 33 bytes of payload with a reason of 12 characters; a record of 48 bytes.
struct retransmission {
    std::uint64_t sequence;
    std::uint32_t bytes;
    std::uint32_t window;
    std::string_view reason;
};

using recorded = eventlog::provider<"bench", retransmission>;
using disabled = eventlog::provider<"bench_disabled", retransmission>;
using dropped = eventlog::provider<"bench_dropped", retransmission>;

/// Three cheap fields from a counter, the same in every benchmark.
struct counted_fields {
    std::uint64_t sequence;
    std::uint32_t bytes;
    std::uint32_t window;
};
[[gnu::always_inline]] constexpr counted_fields fields_of(std::uint64_t i) noexcept {
    return {i, static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i >> 32U)};
}

/// The peer of a gate word, and the function behind its branch: a call with the fields.
extern std::atomic<std::uint32_t> branch_word;
void take_branch(std::uint64_t sequence, std::uint32_t bytes, std::uint32_t window,
                 std::string_view reason) noexcept;

/// Twelve characters whose address and number are unknown at compile time, so that no benchmark
/// copies a constant.
[[nodiscard]] std::string_view opaque_reason() noexcept;

}  // namespace bench
