// SPDX-License-Identifier: MIT
//
// Finding the index of a file, and what it says. It may say anything: whoever follows it checks
// what is found there.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "file/block_file.hpp"

namespace elog {

/// An index block, without its entries: they are read when they are needed.
struct index_section {
    block_location place;
    index_block head{};
};

/// The index block that begins there, if there is one and its head is sound.
[[nodiscard]] std::optional<index_section> read_index_section(block_file& file,
                                                              std::uint64_t offset);

/// All index blocks that belong together, first one first: they list every block from the first
/// one of the file to the last index block but themselves. Nothing if there is no index, or if it
/// is not sound, which is reported: then the file has to be read without it.
[[nodiscard]] std::optional<std::vector<index_section>> read_index_chain(block_file& file);

/// A block as an index lists it.
struct listed_block {
    std::uint64_t offset = 0;
    std::uint64_t number = 0;
    index_entry entry{};

    [[nodiscard]] block_type type() const noexcept { return static_cast<block_type>(entry.type); }
};

/// What a section lists; nothing, which is reported, if it is not what its head says.
[[nodiscard]] std::optional<std::vector<listed_block>> read_index_entries(
    block_file& file, const index_section& section);

}  // namespace elog
