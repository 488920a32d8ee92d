// SPDX-License-Identifier: MIT
//
// Changes valid .elog files as a newer writer could have written them: blocks can be added, removed
// and changed, and the file is written again with the numbers, checksums and indexes that follow.
//
// Damages files in ways that know this structure: most damage has sound checksums, so that readers
// find it in the contents of the blocks.
#pragma once

#include <linux/eventlog.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "file/file_format.hpp"
#include "random_source.hpp"
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

/// Differences between recorded files.
struct sample_kind {
    std::uint32_t clock = EVENTLOG_CLOCK_TSC;
    std::uint32_t part = 0;
    int compression = 0;
    bool is_verbatim = false;
    bool is_of_rings = false;  // with short records and numbers of events; verbatim
    bool has_end = true;
};

/// Writes a recording with all types of blocks, losses of all kinds, and providers throughout.
void write_recording(const std::string& path, const sample_kind& kind);

/// Changes the bytes of a file in one to three places, with or without sound checksums.
void damage_recording(bytes& file, random_source& random);

}  // namespace eventlog::test
