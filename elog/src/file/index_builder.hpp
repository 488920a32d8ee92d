// SPDX-License-Identifier: MIT
//
// Collects index entries for the blocks since the last index, and builds the payload of the next
// index block.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "file/file_format.hpp"

namespace elog {

/// Number of bytes after which an index is due: index_interval_bytes, or less with
/// EVENTLOG_TEST_INDEX_BYTES, so that tests of files with several indexes need not write 16 MiB for
/// each. Readers and writers must have the same value. Throws user_error for an invalid one.
[[nodiscard]] std::uint64_t index_interval();

/// The checksum in the head of an index: of everything behind itself.
[[nodiscard]] std::uint32_t index_checksum(std::span<const std::uint8_t> head) noexcept;

class index_builder {
  public:
    /// Adds a block that was written directly after the previous one.
    void add(const block_header& header);
    /// The same for blocks whose contents are summarized in the index.
    void add(const block_header& header, const records_block& records);
    void add(const block_header& header, const clock_reading& clock);

    [[nodiscard]] bool is_due() const noexcept {
        return entries_.size() >= index_interval_blocks || bytes_ >= step_;
    }
    [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }

    /// The payload of an index block at `offset`.
    [[nodiscard]] std::vector<std::uint8_t> payload(std::uint64_t offset);
    /// Starts the next section, after the index block at `offset` was written.
    void begin_section_after(std::uint64_t offset) noexcept;
    /// Offset of the last index block; 0: none.
    [[nodiscard]] std::uint64_t last_index() const noexcept { return previous_; }

  private:
    void begin_section() noexcept;

    std::uint64_t step_ = index_interval();
    std::vector<index_entry> entries_;
    index_block head_{};
    clock_reading last_clock_{};  // may be from an earlier section
    bool has_clock_ = false;
    std::uint64_t bytes_ = 0;
    std::uint64_t previous_ = 0;
};

}  // namespace elog
