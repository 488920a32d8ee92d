// SPDX-License-Identifier: MIT
//
// Encodes the records of one block in the compacted form, see compact_records.hpp.
//
// - A block decodes alone: begin() empties the dictionary.
// - Every record can be encoded; one that the shape of its event does not fit becomes a raw record.
// - Does not allocate. Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "compact/compact_records.hpp"

namespace elog {

class compact_encoder {
  public:
    /// An upper bound of the bytes that add() appends for a record.
    [[nodiscard]] static constexpr std::size_t size_bound(std::size_t payload) noexcept {
        constexpr std::size_t tag_delta_and_size = 6;
        return compact_define_size + compact_context_size + tag_delta_and_size + payload;
    }

    /// Begins a block in a buffer of the caller, which must outlive the block.
    void begin(std::span<std::uint8_t> buffer, const compact_context& start = {}) noexcept;

    /// Appends a record. Returns false and changes nothing
    /// - if less than size_bound() of it is left of the buffer: the caller then begins a new block;
    /// - if its payload has more than compact_payload_max bytes: no block can contain it.
    ///
    /// `shape` is that of the event, see compact_shape_of(). A wrong one costs bytes only, and the
    /// records of an event may have different ones.
    [[nodiscard]] bool add(const compact_record& record, compact_shape shape) noexcept;

    /// The block up to now.
    [[nodiscard]] std::span<const std::uint8_t> bytes() const noexcept { return {begin_, at_}; }

  private:
    /// What an entry of the dictionary stands for, as one number; 0 is an unused entry.
    using entry_key = std::uint64_t;
    [[nodiscard]] static constexpr entry_key key_of(std::uint32_t event,
                                                    compact_shape shape) noexcept {
        return entry_key{1} << 63U | entry_key{shape.text_word} << 48U |
               entry_key{shape.fixed} << 40U |
               entry_key{static_cast<std::uint8_t>(shape.mode)} << 32U | event;
    }

    [[nodiscard]] std::uint8_t entry_of(std::uint32_t event, compact_shape shape) noexcept;
    [[nodiscard]] std::uint8_t find_or_define(std::uint32_t event, compact_shape shape) noexcept;
    [[nodiscard]] std::uint32_t change_context(const compact_record& record) noexcept;
    void add_raw(const compact_record& record) noexcept;

    std::uint8_t* begin_ = nullptr;
    std::uint8_t* at_ = nullptr;
    std::uint8_t* end_ = nullptr;
    compact_context context_;
    std::array<entry_key, compact_entries> entries_{};
    std::uint8_t next_ = 0;  // entry of the next definition
    /// By the low byte of an event's number: the entry of the last event with that byte, which
    /// entry_of() compares before it uses it. The events of a provider have consecutive numbers, so
    /// they have different hints.
    std::array<std::uint8_t, 256> hints_{};
};

}  // namespace elog
