// SPDX-License-Identifier: MIT
//
// What a writer keeps of the blocks since the last index, and turns into the next one.
#pragma once

#include <cstdint>
#include <vector>

#include "file/file_format.hpp"

namespace elog {

/// After how many bytes an index is due: index_interval_bytes, unless EVENTLOG_TEST_INDEX_BYTES
/// says fewer, so that a test of files with several indexes need not write and read 16 MiB for each
/// of them. What reads the file has to be given the same. Throws failure if it is no such number.
[[nodiscard]] std::uint64_t index_interval();

class index_builder {
  public:
    /// A block has been written, right behind the one before.
    void add(const block_header& header);
    /// The same of those whose content an index tells about.
    void add(const block_header& header, const records_block& records);
    void add(const block_header& header, const clock_block& clock);

    [[nodiscard]] bool is_due() const noexcept {
        return entries_.size() >= index_interval_blocks || bytes_ >= step_;
    }
    [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }

    /// The payload of an index block that begins at `offset`; from here on, what follows it is
    /// listed.
    [[nodiscard]] std::vector<std::uint8_t> take(std::uint64_t offset);
    /// Where the last index block begins; 0 if there was none.
    [[nodiscard]] std::uint64_t last_index() const noexcept { return previous_; }

  private:
    void begin_section() noexcept;

    std::uint64_t step_ = index_interval();
    std::vector<index_entry> entries_;
    index_block head_{};
    clock_block last_clock_{};  // also from before this section
    bool has_clock_ = false;
    std::uint64_t bytes_ = 0;
    std::uint64_t previous_ = 0;
};

}  // namespace elog
