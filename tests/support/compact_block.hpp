// SPDX-License-Identifier: MIT
//
// Records of the compacted encoding that own their payloads, and blocks of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "compact/compact_decoder.hpp"
#include "compact/compact_encoder.hpp"

namespace eventlog::test::compact {

using bytes = std::vector<std::uint8_t>;

/// The context that the blocks begin with.
inline constexpr elog::compact_context start{1000, 7, 3};

struct owned_record {
    std::uint32_t event = 0;
    std::uint32_t thread = 0;
    std::uint64_t time = 0;
    std::uint16_t cpu = 0;
    std::uint16_t flags = 0;
    bytes payload{};

    [[nodiscard]] elog::compact_record view() const noexcept {
        return {event, thread, time, cpu, flags, payload};
    }
    bool operator==(const owned_record&) const = default;
};

[[nodiscard]] owned_record owned(const elog::compact_record& record);

struct shaped_record {
    owned_record record;
    elog::compact_shape shape{};
};

/// A record in the context `start`.
[[nodiscard]] shaped_record record_of(elog::compact_shape shape, bytes payload,
                                      std::uint32_t event = 5);

/// A fixed part with the word of a text at `word`, then the text and its NUL.
[[nodiscard]] bytes text_payload(std::size_t fixed, std::size_t word, std::string_view text);

inline constexpr elog::compact_shape reference_shape{elog::compact_mode::text, 20, 16};

/// u64, u32, u32 and a text of 12 characters.
[[nodiscard]] shaped_record reference();

/// Encodes a block and checks the bound of each record.
[[nodiscard]] bytes encode(const std::vector<shaped_record>& records,
                           const elog::compact_context& from = start);

struct decoded_block {
    std::vector<owned_record> records;
    elog::compact_result end{};

    bool operator==(const decoded_block&) const = default;
};

[[nodiscard]] decoded_block decode(std::span<const std::uint8_t> block,
                                   const elog::compact_context& from = start);

/// Encodes the records, requires that they are decoded to the same, and returns the block.
bytes round_trip(const std::vector<shaped_record>& records,
                 const elog::compact_context& from = start);

/// The definition of an entry of the dictionary.
[[nodiscard]] bytes definition(std::uint32_t event, elog::compact_shape shape);

/// A block that begins with the definition of event 5.
[[nodiscard]] bytes block_of(elog::compact_shape shape, const bytes& rest);

}  // namespace eventlog::test::compact
