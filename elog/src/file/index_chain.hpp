// SPDX-License-Identifier: MIT
//
// Finds and reads the index of a file. Index contents are untrusted: the caller must verify the
// blocks found through it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "file/block_file.hpp"

namespace elog {

/// An index block without its entries, which are read on demand.
struct index_section {
    block_location place;
    index_block head{};
};

/// The index block at `offset`, if there is one and its header is valid.
[[nodiscard]] std::optional<index_section> read_index_section(block_file& file,
                                                              std::uint64_t offset);

/// All index blocks of the file, in order. Together they list every block up to the last index
/// block except the index blocks themselves. nullopt if there is no index, or an invalid one, which
/// is reported; the file must then be scanned.
[[nodiscard]] std::optional<std::vector<index_section>> read_index_chain(block_file& file);

/// A block as listed by an index.
struct listed_block {
    std::uint64_t offset = 0;
    std::uint64_t number = 0;
    index_entry entry{};

    [[nodiscard]] block_type type() const noexcept { return static_cast<block_type>(entry.type); }
};

/// The blocks that a section lists; nullopt, with a report, if the entries contradict the header.
[[nodiscard]] std::optional<std::vector<listed_block>> read_index_entries(
    block_file& file, const index_section& section);

}  // namespace elog
