// SPDX-License-Identifier: MIT
//
// Changes valid .elog files as a newer writer could have written them: blocks can be added, removed
// and changed, and the file is written again with the numbers, checksums and indexes that follow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "file/file_format.hpp"
#include "recording_sample.hpp"

namespace eventlog::test {

/// A block without what follows from its place in the file.
struct mutable_block {
    std::uint16_t type = 0;
    std::uint16_t flags = 0;
    bytes payload{};

    [[nodiscard]] bool is(elog::block_type wanted) const noexcept {
        return type == static_cast<std::uint16_t>(wanted);
    }
    /// Adds members of any content to the head.
    void grow_head(std::size_t size);
};

class mutable_file {
  public:
    /// An undamaged file.
    explicit mutable_file(const bytes& file);

    /// The payload of an index is written again; members added to its head are kept.
    [[nodiscard]] bytes written() const;

    /// Position of the last index, behind which only the end follows.
    [[nodiscard]] std::size_t last_index() const;

    elog::file_header header{};
    std::vector<mutable_block> blocks;
};

}  // namespace eventlog::test
