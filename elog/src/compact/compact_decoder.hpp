// SPDX-License-Identifier: MIT
//
// Decodes a block of compacted records from untrusted bytes, see compact_records.hpp.
//
// - Every size is compared with the rest of the bytes before it is used; nothing outside of them is
//   read.
// - Each call consumes bytes or ends the block, and does not allocate.
// - The decoder does not limit the number of records, which have at least 2 bytes each. The caller
//   compares it with the block's count.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "compact/compact_records.hpp"

namespace elog {

enum class compact_result : std::uint8_t {
    record,
    end,      // all bytes are decoded
    damaged,  // the rest cannot be decoded; the records before are correct as far as is known
};

class compact_decoder {
  public:
    /// Begins a block. The bytes must outlive it. `start` is the context that the encoder began
    /// with.
    void begin(std::span<const std::uint8_t> bytes, const compact_context& start = {}) noexcept;

    /// Decodes the next record. Its payload is valid until the next call of next() or begin(), is
    /// not aligned, and has at most compact_payload_max bytes. `record` changes only with the
    /// result `record`. After `end` or `damaged`, every call returns the same.
    [[nodiscard]] compact_result next(compact_record& record) noexcept;

  private:
    struct entry {
        std::uint32_t event = 0;
        compact_shape shape{};
        /// The least size of a body. No bytes suffice for an entry that is not defined.
        std::size_t body_min = SIZE_MAX / 2;
    };

    [[nodiscard]] std::size_t left() const noexcept { return static_cast<std::size_t>(end_ - at_); }
    [[nodiscard]] compact_result fail() noexcept;
    [[nodiscard]] compact_result read_record(compact_record& record) noexcept;
    [[nodiscard]] compact_result read_raw(compact_record& record) noexcept;
    [[nodiscard]] bool read_escape() noexcept;
    [[nodiscard]] bool define() noexcept;
    [[nodiscard]] const std::uint8_t* read_body(const std::uint8_t* at, const entry& from,
                                                std::span<const std::uint8_t>& payload) noexcept;
    [[nodiscard]] const std::uint8_t* restore_text(const std::uint8_t* body, compact_shape shape,
                                                   std::size_t n) noexcept;

    const std::uint8_t* at_ = nullptr;
    const std::uint8_t* end_ = nullptr;
    compact_context context_;
    bool damaged_ = false;
    std::uint8_t next_ = 0;  // entry of the next definition
    std::array<entry, compact_entries> entries_{};
    std::array<std::uint8_t, 2 * compact_size_max> text_payload_{};
};

}  // namespace elog
