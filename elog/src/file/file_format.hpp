// SPDX-License-Identifier: MIT
//
// The .elog file format, version 2: structures, constants and sizes. Little-endian on every
// machine; elog(5) is the specification.
//
//   0   struct file_header
//   32  block, block, ...
//
//   block    struct block_header (32 bytes), payload, zero bytes up to a multiple of 8
//
// Blocks are self-contained and follow each other without gaps. Each header has a magic number and
// its own checksum, so after damage a reader finds the next whole block by testing every eighth
// byte. Each payload has a checksum. `number` counts the blocks of a file from 0, so a missing
// block is detected. `identity` is drawn for each file: records may contain the bytes of another
// .elog file, whose blocks must not be read as blocks of this file. A reader skips blocks of
// unknown types.
//
//   host       struct host_block: host and rings of the recording; the first two blocks, because
//              nothing can be read without it
//   clock      struct clock_block: readings of three clocks; at the beginning, at least once a
//              second while records are written, and at the end
//   provider   struct provider_block, then the schema; before the provider's first record
//   records    struct records_block, then the bytes of a ring as they were (struct eventlog_record)
//   loss       struct loss_block: losses that no records block carries
//   index      struct index_block, then a struct index_entry for each block since the previous
//              index; at least after index_interval_blocks blocks or index_interval_bytes bytes
//   offsets    struct offsets_block: CLOCK_BOOTTIME and CLOCK_TAI relative to the other clocks; at
//              the beginning and after changes
//   end        struct end_block: the recording ended regularly; the last block, after an index
//
// The bytes after struct provider_block and struct records_block may be one zstd frame; the block
// then has the flag `compressed`.
//
// A file without `end` was cut off or is still being written. Its blocks are valid.
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

/// Largest size of the records in one block, decompressed. elog writes smaller blocks: see
/// run_coalescer.
inline constexpr std::size_t records_size_max = std::size_t{1} << 20U;

inline constexpr std::uint16_t block_compressed = 1;
inline constexpr std::uint16_t block_flags = block_compressed;  // all known flags

/// An index is written after this many blocks or bytes.
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
    std::uint32_t checksum;  // CRC-32C of the preceding bytes
};

struct block_header {
    std::uint32_t magic;
    std::uint16_t type;
    std::uint16_t flags;
    std::uint32_t size;  // bytes of payload, without padding
    std::uint32_t payload_checksum;
    std::uint64_t number;
    std::uint32_t identity;
    std::uint32_t checksum;  // CRC-32C of the preceding bytes
};

struct host_block {
    std::uint32_t clock;       // enum eventlog_clock
    std::uint32_t ring_count;  // the last one is shared, the others belong to CPUs
    char host_name[64];        // NUL-terminated, as the next two
    char kernel[64];
    char machine[32];
    std::uint64_t recording;  // the same in all files of one recording
    std::uint32_t part;       // position in the recording, from 1; 0 for a single file
    std::uint32_t version;    // same as file_header::version
};

struct clock_block {
    std::uint64_t clock;
    std::uint64_t monotonic;  // nanoseconds
    std::uint64_t realtime;   // nanoseconds since 1970
    std::uint64_t watermark;  // no record after this block is earlier; 0: unknown
};

/// Valid from `clock` until the next offsets block.
struct offsets_block {
    std::uint64_t clock;    // the host's clock when the offsets were read
    std::int64_t boottime;  // CLOCK_BOOTTIME minus CLOCK_MONOTONIC: nanoseconds of suspend
    std::int64_t tai;       // CLOCK_TAI minus CLOCK_REALTIME, nanoseconds; 0: not configured
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
    std::uint64_t sequence;     // records attempted on this ring before the first one
    std::uint64_t lost_before;  // of these, lost since the previous record of the ring
    std::uint64_t earliest;     // time of a record, in units of the host's clock
    std::uint64_t latest;
};

/// The records lost before this block had been recorded and were replaced by newer ones.
/// Informational: a reader that does not know the flag counts them as lost.
inline constexpr std::uint32_t records_overwritten = 1;

struct end_block {
    std::uint64_t records;
    std::uint64_t lost;
    std::uint64_t index;  // offset of the last index block
};

/// Summary of the blocks since the previous index. Readable without the entries that follow it.
struct index_block {
    std::uint64_t previous;      // offset of the previous index; 0: this is the first one
    std::uint64_t start;         // offset of the first listed block
    std::uint64_t first_number;  // number of that block
    std::uint64_t records;
    std::uint64_t lost;      // sum of records_block::lost_before
    std::uint64_t earliest;  // time of a record; above `latest` if there are no records
    std::uint64_t latest;
    // The first and last clock readings of the section; without any, the last reading before it, or
    // zeros.
    clock_block first_clock;
    clock_block last_clock;
    // CLOCK_REALTIME minus CLOCK_MONOTONIC, over all readings of the section and the last one
    // before.
    std::int64_t offset_min;
    std::int64_t offset_max;
    std::uint32_t entries;
    std::uint32_t clocks;    // of the entries, clock blocks
    std::uint32_t others;    // of the entries, provider, loss and offsets blocks
    std::uint32_t checksum;  // CRC-32C of the preceding bytes
};

struct index_entry {
    std::uint32_t size;  // as in the block's header, with the next two
    std::uint16_t type;
    std::uint16_t flags;
    std::uint32_t ring;  // for records, as the rest; zero for other blocks
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

/// Copies a text into a zeroed field, cut so that at least one NUL remains.
template <std::size_t Size>
void copy_text(char (&target)[Size], std::string_view text) noexcept {
    std::memcpy(target, text.data(), std::min(text.size(), Size - 1));
}

/// Payload size including the zero padding.
constexpr std::uint64_t padded_payload_size(std::uint64_t size) noexcept {
    return (size + block_alignment - 1) / block_alignment * block_alignment;
}

/// Size of a block in the file.
constexpr std::uint64_t block_size_in_file(std::uint32_t payload) noexcept {
    return sizeof(block_header) + padded_payload_size(payload);
}

inline constexpr std::uint64_t end_block_size = block_size_in_file(sizeof(end_block));

}  // namespace elog
