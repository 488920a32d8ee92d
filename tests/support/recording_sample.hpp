// SPDX-License-Identifier: MIT
//
// Recordings whose records carry a checksum, so that a test can verify each of them.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "file/file_reader.hpp"
#include "file/file_writer.hpp"

namespace eventlog::test {

using bytes = std::vector<std::uint8_t>;

struct mark {
    std::uint64_t number;
    std::uint64_t check;
};

[[nodiscard]] constexpr std::uint64_t checksum_of(std::uint64_t number) noexcept {
    return number * 0x9e3779b97f4a7c15U;
}

/// On CLOCK_MONOTONIC; the sample's clock readings put CLOCK_REALTIME one second ahead.
[[nodiscard]] constexpr std::uint64_t time_of(std::uint64_t number) noexcept {
    return 1000 + number * 10;
}
constexpr std::int64_t realtime_ahead = 1'000'000'000;

/// Records `first` to `last` of provider 0, as in a ring.
[[nodiscard]] bytes make_records(std::uint64_t first, std::uint64_t last);

/// A provider whose event 0 is a mark.
[[nodiscard]] elog::provider_instance mark_provider(std::uint32_t id = 0);

struct sample_options {
    std::uint64_t records = 60;
    std::uint64_t block = 10;       // records per block
    std::uint64_t gap_before = 31;  // the first record after a loss of five; begins a block
    bool overwritten = false;       // the five were overwritten
    int compression = 0;
    bool end = true;
};

constexpr std::uint32_t sample_rings = 3;
constexpr std::uint64_t sample_lost = 8;

/// Writes a file; blocks of records alternate between three rings.
void write_sample(const std::string& path, const sample_options& options = {});

[[nodiscard]] bytes contents(const std::string& path);
void replace(const std::string& path, const bytes& with);

struct sample_contents {
    std::set<std::uint64_t> numbers;  // numbers of marks
    std::uint64_t lost = 0;           // lost or overwritten before a record
    std::uint64_t overwritten = 0;    // part of `lost`
    std::uint64_t wrong = 0;          // records that are no marks, repeated, or out of order
    std::vector<std::string> damages;
    bool opened = false;
    bool has_end = false;
};

/// Reads the whole file.
[[nodiscard]] sample_contents read_sample(const std::string& path, elog::time_range range = {});

struct block_location {
    std::uint64_t offset = 0;
    elog::block_header header{};
    std::uint64_t end = 0;  // including padding
};

/// The blocks of an undamaged file, located by their sizes alone.
[[nodiscard]] std::vector<block_location> blocks_of(const bytes& file);

/// Recomputes a block's checksums after a change of its header or payload.
void update_block_checksums(bytes& file, std::uint64_t offset);

}  // namespace eventlog::test
