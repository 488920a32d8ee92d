// SPDX-License-Identifier: MIT
//
// The .elog file, version 2. Little-endian on every machine. elog(5) specifies it.
//
//   0   struct file_header
//   32  block, block, ...
//
//   block    struct block_header (32 bytes), payload, zero bytes up to a multiple of 8
//
// Blocks are self-contained and follow each other without gaps. Each header has a magic number and
// a checksum of its own, so that after damage the next whole block is found by looking at every
// eighth byte; each payload has a checksum. `number` counts the blocks of a file from 0, so that
// one that is missing altogether is noticed. `identity` is the file's: records may hold the bytes
// of another .elog file, and its blocks must not be taken for this one's. A reader skips blocks of
// a type it does not know.
//
//   host       struct host_block: where and with what rings it was recorded; the first two blocks,
//              because without it nothing can be read
//   clock      struct clock_block: readings of three clocks; at the beginning, at least each second
//              while records come, and at the end
//   provider   struct provider_block, then the schema; before the first record that names it
//   records    struct records_block, then bytes of a ring as they were (struct eventlog_record)
//   loss       struct loss_block: what no records block could tell
//   index      struct index_block, then a struct index_entry for each block since the index before;
//              at least after index_interval_blocks blocks or index_interval_bytes bytes
//   offsets    struct offsets_block: what CLOCK_BOOTTIME and CLOCK_TAI say beside the others; at
//              the beginning, and when that has changed
//   end        struct end_block: the recording was ended properly; the last block, behind an index
//
// What follows struct provider_block and struct records_block may be one zstd frame: then the block
// has the flag `compressed`.
//
// A file without `end` was cut off, or is still being written: what is there is good.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "record/loss.hpp"

namespace elog {

static_assert(std::endian::native == std::endian::little,
              "elog: .elog files are little-endian, and converting to it while recording is not "
              "written yet. Build libeventlog alone on this machine.");

inline constexpr std::uint64_t file_magic = 0x0a1a0a0d474f4c45;  // "ELOG\r\n\x1a\n"
inline constexpr std::uint32_t file_version = 2;
inline constexpr std::uint32_t block_magic = 0x4b4c4245;  // "EBLK"
inline constexpr std::uint32_t block_payload_max = 2U << 20U;
inline constexpr std::size_t block_alignment = 8;

/// Bytes of records in one block, decompressed. What elog writes is smaller: see run_coalescer.
inline constexpr std::size_t records_size_max = std::size_t{1} << 20U;

inline constexpr std::uint16_t block_compressed = 1;
inline constexpr std::uint16_t block_flags = block_compressed;  // all there are

/// An index follows when there are that many blocks, or bytes, that none lists.
inline constexpr std::uint32_t index_interval_blocks = 1024;
inline constexpr std::uint64_t index_interval_bytes = std::uint64_t{16} << 20U;

enum class block_type : std::uint16_t {
    host = 1,
    clock = 2,
    provider = 3,
    records = 4,
    loss = 5,
    end = 6,
    index = 7,
    offsets = 8,
};

struct file_header {
    std::uint64_t magic;
    std::uint32_t version;
    std::uint32_t identity;
    std::uint32_t reserved[3];
    std::uint32_t checksum;  // CRC-32C of the bytes before it
};

struct block_header {
    std::uint32_t magic;
    std::uint16_t type;
    std::uint16_t flags;
    std::uint32_t size;  // bytes of payload, without padding
    std::uint32_t payload_checksum;
    std::uint64_t number;
    std::uint32_t identity;
    std::uint32_t checksum;  // CRC-32C of the bytes before it
};

struct host_block {
    std::uint32_t clock;       // enum eventlog_clock
    std::uint32_t ring_count;  // the last one is shared, the others belong to CPUs
    char host_name[64];        // NUL-terminated, as the next two
    char kernel[64];
    char machine[32];
    std::uint64_t recording;  // the same in all files of one recording
    std::uint32_t part;       // its place among these, from 1; 0 if there is one file only
    std::uint32_t version;    // file_header::version once more
};

struct clock_block {
    std::uint64_t clock;
    std::uint64_t monotonic;  // nanoseconds
    std::uint64_t realtime;   // nanoseconds since 1970
    std::uint64_t watermark;  // no record behind this block is earlier; 0: not known
};

/// From this time on, up to that of the next one.
struct offsets_block {
    std::uint64_t clock;    // the host's clock when they were read
    std::int64_t boottime;  // CLOCK_BOOTTIME less CLOCK_MONOTONIC, nanoseconds: how long it slept
    std::int64_t tai;       // CLOCK_TAI less CLOCK_REALTIME, nanoseconds; 0: nobody has told
};

struct provider_block {
    std::uint16_t id;
    std::uint16_t reserved;
    std::uint32_t pid;
    std::uint32_t uid;
    std::uint32_t schema_size;
    char process[16];
};

struct records_block {
    std::uint32_t ring;
    std::uint32_t flags;  // records_...
    std::uint64_t count;
    std::uint64_t sequence;     // attempted on this ring before the first record
    std::uint64_t lost_before;  // of these, lost since the last record before it
    std::uint64_t earliest;     // time of a record, in units of the host's clock
    std::uint64_t latest;
};

/// What was lost before had been recorded: newer records took its place. Only a note; a reader that
/// does not know it takes them for lost.
inline constexpr std::uint32_t records_overwritten = 1;

struct end_block {
    std::uint64_t records;
    std::uint64_t lost;
    std::uint64_t index;  // where the last index block begins
};

/// What blocks since the index before hold, taken together. Its first part can be read without the
/// entries that follow it.
struct index_block {
    std::uint64_t previous;      // where the index before begins; 0: this is the first one
    std::uint64_t start;         // where the first block that is listed begins
    std::uint64_t first_number;  // its number
    std::uint64_t records;
    std::uint64_t lost;      // the sum of records_block::lost_before
    std::uint64_t earliest;  // time of a record; above `latest` if there are none
    std::uint64_t latest;
    // Readings of the clocks: the first and the last one here; without any here, the last one
    // before, and zeros if there was none.
    clock_block first_clock;
    clock_block last_clock;
    // CLOCK_REALTIME less CLOCK_MONOTONIC, in all readings here and in the last one before.
    std::int64_t offset_min;
    std::int64_t offset_max;
    std::uint32_t entries;
    std::uint32_t clocks;    // of these, clock blocks
    std::uint32_t others;    // of these, provider, loss and offsets blocks
    std::uint32_t checksum;  // CRC-32C of the bytes before it
};

struct index_entry {
    std::uint32_t size;  // as in the block's header, with the next two
    std::uint16_t type;
    std::uint16_t flags;
    std::uint32_t ring;  // of records, as the rest: zeros elsewhere
    std::uint32_t count;
    std::uint64_t earliest;
    std::uint64_t latest;
};

static_assert(sizeof(file_header) == 32 && offsetof(file_header, checksum) == 28);
static_assert(sizeof(block_header) == 32 && offsetof(block_header, number) == 16 &&
              offsetof(block_header, checksum) == 28);
static_assert(sizeof(host_block) == 184 && offsetof(host_block, kernel) == 72 &&
              offsetof(host_block, machine) == 136 && offsetof(host_block, part) == 176);
static_assert(sizeof(clock_block) == 32 && sizeof(offsets_block) == 24);
static_assert(sizeof(provider_block) == 32 && offsetof(provider_block, process) == 16);
static_assert(sizeof(records_block) == 48 && offsetof(records_block, earliest) == 32);
static_assert(sizeof(end_block) == 24);
static_assert(sizeof(index_block) == 152 && offsetof(index_block, first_clock) == 56 &&
              offsetof(index_block, offset_min) == 120 && offsetof(index_block, entries) == 136);
static_assert(sizeof(index_entry) == 32);

/// Into a block's room for a text, which is zero so far: as much of it as leaves one at the end.
template <std::size_t Size>
void copy_text(char (&target)[Size], std::string_view text) noexcept {
    std::memcpy(target, text.data(), std::min(text.size(), Size - 1));
}

/// A payload's size, with the zero bytes that follow it.
constexpr std::uint64_t padded_payload_size(std::uint64_t size) noexcept {
    return (size + block_alignment - 1) / block_alignment * block_alignment;
}

/// A block's size in the file.
constexpr std::uint64_t block_size_in_file(std::uint32_t payload) noexcept {
    return sizeof(block_header) + padded_payload_size(payload);
}

inline constexpr std::uint64_t end_block_size = block_size_in_file(sizeof(end_block));

}  // namespace elog
