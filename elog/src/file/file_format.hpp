// SPDX-License-Identifier: MIT
//
// The .elog file format, version 3.0: structures, constants and sizes. Little-endian on every
// machine; elog(5) is the specification.
//
//   0   struct file_header
//   64  block, block, ...
//
//   block    struct block_header (32 bytes), payload, zero bytes up to a multiple of 8
//
// Blocks are self-contained and follow each other without gaps. Each header has a magic number and
// its own checksum, so after damage a reader finds the next whole block by testing every eighth
// byte. Each payload has a checksum. `number` counts the blocks of a file from 0, so a missing
// block is detected. `identity` is drawn for each file: records may contain the bytes of another
// .elog file, whose blocks must not be read as blocks of this file.
//
// Each payload begins with a head, a structure below, whose first member is its size: a later minor
// version may add members. A reader takes the members that it knows and rejects a head that is
// smaller than in 3.0. The body follows the head.
//
//   host       host of the recording; with `segment` at the beginning, again at the first block
//              after 4 KiB, and before each index: nothing can be read without them
//   segment    rings and clock of the records
//   clock      readings of three clocks; at the beginning, at least once a second while records are
//              written, and at the end
//   offsets    CLOCK_BOOTTIME and CLOCK_TAI relative to the other clocks; at the beginning and
//              after changes
//   schema     body: the schema; before the first provider with it
//   process    before the first provider of the process
//   provider   before the provider's first record
//   records    body: records in one of the encodings
//   loss       body: name of the provider; totals of losses that no records block carries
//   note       body: texts; something that happened to the recording
//   index      body: a struct index_entry for each block since the previous index; at least after
//              index_interval_blocks blocks or index_interval_bytes bytes
//   end        how the recording ended; the last block, directly after an index
//
// The body of a schema or records block may be one zstd frame; the block then has the flag
// `compressed`.
//
// A file without `end` was cut off or is still being written. Its blocks are valid.
#pragma once

#include <linux/eventlog.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace elog {

static_assert(std::endian::native == std::endian::little,
              "elog: .elog files are little-endian, and converting to it while recording is not "
              "written yet. Build libeventlog alone on this machine.");

inline constexpr std::uint64_t file_magic = 0x0a1a0a0d474f4c45;  // "ELOG\r\n\x1a\n"
inline constexpr std::uint16_t file_version = 3;                 // major
inline constexpr std::uint16_t file_version_minor = 0;
inline constexpr std::uint32_t block_magic = 0x4b4c4245;  // "EBLK"
inline constexpr std::uint32_t block_payload_max = 2U << 20U;
inline constexpr std::size_t block_alignment = 8;
inline constexpr std::size_t block_head_max = 2048;

/// Features that a reader must know; none yet.
inline constexpr std::uint64_t file_features_known = 0;

/// Largest size of the records in one block, decompressed. elog writes smaller blocks: see
/// run_coalescer.
inline constexpr std::size_t records_size_max = std::size_t{1} << 20U;

/// Flags of a block. Those of the low byte change its payload: a reader that does not know one
/// skips the block. The others inform.
inline constexpr std::uint16_t block_compressed = 1;
inline constexpr std::uint16_t block_flags_changing = 0x00ff;
inline constexpr std::uint16_t block_flags_known = block_compressed;

/// In a block's type: a reader that does not know the type must refuse the file.
inline constexpr std::uint16_t block_type_required = 0x8000;

/// An index is written after this many blocks or bytes.
inline constexpr std::uint32_t index_interval_blocks = 1024;
inline constexpr std::uint64_t index_interval_bytes = std::uint64_t{16} << 20U;

/// Host and segment are written a second time at the first block behind this offset, so that damage
/// of a file's first sectors cannot cost both copies.
inline constexpr std::uint64_t second_host_offset = 4096;

/// With them the schemas, processes and providers that begin before this offset, up to this size:
/// without these, later records could not be decoded.
inline constexpr std::uint32_t repeated_payload_max = 8192;

enum class block_type : std::uint16_t {
    host = 1,
    clock = 2,
    schema = 3,
    records = 4,
    loss = 5,
    end = 6,
    index = 7,
    offsets = 8,
    segment = 9,
    process = 10,
    provider = 11,
    note = 12,
};

struct file_header {
    std::uint64_t magic;
    std::uint16_t version;
    std::uint16_t version_minor;
    std::uint32_t identity;
    std::uint64_t required_features;
    std::uint64_t optional_features;
    std::uint8_t reserved[28];
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

/// Body: the recorded command, without NUL; empty if there was none.
struct host_block {
    std::uint16_t head_size;
    std::uint16_t version;  // as in the file's header, with the next ones
    std::uint32_t part;     // position in the recording, from 1; 0 for a single file
    std::uint64_t required_features;
    std::uint64_t optional_features;
    std::uint64_t recording;  // the same in all files of one recording
    std::uint8_t boot[16];    // the kernel's boot_id; zeros: unknown
    char host_name[64];       // NUL-terminated, as the next two
    char kernel[64];
    char machine[32];
};

enum class segment_origin : std::uint16_t {
    unknown = 0,
    recorded = 1,  // by elog record or libelog
    copied = 2,    // from other .elog files
    imported = 3,  // from a recording of another program
    // By elog repair, of a file that has lost the blocks with rings and clock: it has as many rings
    // as the records need, and its clock is the one that the readings have.
    recovered = 4,
};

struct segment_block {
    std::uint16_t head_size;
    std::uint16_t segment;
    std::uint32_t clock;       // enum eventlog_clock
    std::uint32_t ring_count;  // the last one is shared, the others belong to CPUs
    std::uint16_t origin;      // enum segment_origin
    std::uint16_t reserved;
    std::uint64_t frequency;  // ticks of the clock in a second; 0: see the clock blocks
    std::uint64_t serial;     // of the recorded region; 0: unknown
};

struct clock_reading {
    std::uint64_t clock;
    std::uint64_t monotonic;  // nanoseconds
    std::uint64_t realtime;   // nanoseconds since 1970
    std::uint64_t watermark;  // no record after this block is earlier; 0: unknown
};

struct clock_block {
    std::uint16_t head_size;
    std::uint16_t segment;
    std::uint32_t error;  // largest error of the reading in nanoseconds; 0: unknown
    clock_reading reading;
};

/// Valid from `clock` until the next offsets block.
struct offsets_block {
    std::uint16_t head_size;
    std::uint16_t segment;
    std::uint32_t reserved;
    std::uint64_t clock;    // the segment's clock when the offsets were read
    std::int64_t boottime;  // CLOCK_BOOTTIME minus CLOCK_MONOTONIC: nanoseconds of suspend
    std::int64_t tai;       // CLOCK_TAI minus CLOCK_REALTIME, nanoseconds; 0: not configured
};

/// Body: the schema. It is written once, unless two schemas have one hash: then a provider has the
/// last one before it.
struct schema_block {
    std::uint16_t head_size;
    std::uint16_t reserved;
    std::uint32_t size;  // of the schema, decompressed
    std::uint64_t hash;  // of the schema
};

struct process_block {
    std::uint16_t head_size;
    std::uint16_t segment;
    std::uint32_t id;
    std::uint32_t pid;
    std::uint32_t uid;
    std::uint64_t start_time;  // in clock ticks after boot; 0: unknown
    std::uint32_t parent;      // pid when it attached; 0: unknown
    std::uint32_t reserved;
    char name[16];
};

struct provider_block {
    std::uint16_t head_size;
    std::uint16_t segment;
    std::uint16_t id;
    std::uint16_t reserved;
    std::uint32_t process;      // process_block::id
    std::uint32_t first_event;  // number of its event 0, see below; the others follow
    std::uint32_t event_count;
    std::uint32_t reserved2;
    std::uint64_t schema;  // schema_block::hash
};

// Numbers of events in a file. Those of a provider of a region, which its verbatim records have,
// are at most EVENTLOG_EVENT_NUMBER_MAX; they are the same in the file. Records of other providers
// name them instead, and their events get numbers above it, which compacted records use.
inline constexpr std::uint32_t first_number_of_named = EVENTLOG_EVENT_NUMBER_MAX + 1;

enum class record_encoding : std::uint8_t {
    verbatim = 0,  // the bytes of a ring as they were, or of records that name their providers
    /// See compact_records.hpp; its first context is 0. `decoded_size` is what a reader may need to
    /// store the records: of each one 32 bytes and the payload, rounded up to 8.
    compacted = 1,
};

struct records_block {
    std::uint16_t head_size;
    std::uint8_t encoding;  // enum record_encoding; a reader skips a block with an unknown one
    std::uint8_t flags;     // records_...
    std::uint16_t segment;
    std::uint16_t ring;
    std::uint64_t count;
    std::uint64_t sequence;     // records attempted on this ring before the first one
    std::uint64_t lost_before;  // of these, lost since the previous record of the ring
    std::uint64_t earliest;     // time of a record, in units of the segment's clock
    std::uint64_t latest;
    std::uint64_t context;       // `verbatim`: of the ring before the first record; 0: not needed
    std::uint32_t decoded_size;  // bytes of the body in `verbatim`; see record_encoding
    std::uint32_t reserved;
};

/// The records lost before this block had been recorded and were replaced by newer ones.
/// Informational: a reader that does not know the flag counts them as lost.
inline constexpr std::uint8_t records_overwritten = 1;

/// Body: u8 length and name of the provider. A later block of the same ring or provider replaces
/// this one.
struct loss_block {
    std::uint16_t head_size;
    std::uint8_t scope;  // enum loss_scope
    std::uint8_t reserved;
    std::uint16_t segment;
    std::uint16_t index;  // of ring or provider
    std::uint64_t full;
    std::uint64_t too_large;
    std::uint64_t busy;
    std::uint64_t damaged;
    std::uint64_t overwritten;
    std::uint64_t unwritten;
    std::uint64_t start_time;  // of the process, with the next two
    std::uint32_t pid;
    std::uint32_t reserved2;
    char process[16];
    std::uint64_t unattached;  // absent in a shorter head, as the next ones
    std::uint64_t refused;
    std::uint64_t no_memory;  // of the provider's `full`
};

inline constexpr std::size_t loss_head_min = 88;

enum class note_kind : std::uint16_t {
    pause = 1,          // values: time on the segment's clock, number of the pause from 1
    resume = 2,         // the same
    omitted = 5,        // records left out on request
    command_scope = 6,  // records of processes outside of the recorded command
};

/// Body, of `omitted`: u8 length and name of the provider, u8 length and name of the event; both
/// empty for all events together.
struct note_block {
    std::uint16_t head_size;
    std::uint16_t kind;  // enum note_kind; a reader skips an unknown one
    std::uint16_t segment;
    std::uint16_t reserved;
    std::uint64_t values[5];
};

enum class end_reason : std::uint16_t {
    regular = 1,
    repaired = 2,   // the end was missing or damaged; elog repair has written this one
    disk_full = 3,  // records that did not reach the file are counted in loss blocks
    too_large = 4,  // the same, because of the limit on the size of a file
};

struct end_block {
    std::uint16_t head_size;  // 24 in all versions: the block is found by its size
    std::uint16_t reason;     // enum end_reason
    std::uint32_t index;      // bytes from the header of the last index to this block's header
    std::uint64_t records;
    std::uint64_t lost;
};

/// Summary of the blocks since the previous index. Readable without the entries that follow it.
struct index_block {
    std::uint16_t head_size;
    std::uint16_t reserved;
    std::uint32_t checksum;      // CRC-32C of the rest of the head
    std::uint64_t previous;      // offset of the previous index; 0: this is the first one
    std::uint64_t start;         // offset of the first listed block
    std::uint64_t first_number;  // number of that block
    std::uint64_t records;
    std::uint64_t lost;      // sum of records_block::lost_before
    std::uint64_t earliest;  // time of a record; above `latest` if there are no records
    std::uint64_t latest;
    // The first and last clock readings of the section; without any, the last reading before it, or
    // zeros.
    clock_reading first_clock;
    clock_reading last_clock;
    // CLOCK_REALTIME minus CLOCK_MONOTONIC, over all readings of the section and the last one
    // before.
    std::int64_t offset_min;
    std::int64_t offset_max;
    std::uint32_t entries;
    std::uint32_t clocks;  // of the entries, clock blocks
    std::uint32_t others;  // of the entries, blocks that a reader of any part of the time needs
    std::uint32_t reserved2;
};

struct index_entry {
    std::uint32_t size;  // as in the block's header, with the next two
    std::uint16_t type;
    std::uint16_t flags;
    std::uint16_t segment;  // for records, as the rest; zero for other blocks
    std::uint16_t ring;
    std::uint32_t count;
    std::uint64_t earliest;
    std::uint64_t latest;
};

static_assert(sizeof(file_header) == 64 && offsetof(file_header, required_features) == 16 &&
              offsetof(file_header, checksum) == 60);
static_assert(sizeof(block_header) == 32 && offsetof(block_header, number) == 16 &&
              offsetof(block_header, checksum) == 28);
static_assert(sizeof(host_block) == 208 && offsetof(host_block, recording) == 24 &&
              offsetof(host_block, host_name) == 48 && offsetof(host_block, machine) == 176);
static_assert(sizeof(segment_block) == 32 && offsetof(segment_block, frequency) == 16);
static_assert(sizeof(clock_reading) == 32 && sizeof(clock_block) == 40 &&
              sizeof(offsets_block) == 32);
static_assert(sizeof(schema_block) == 16 && sizeof(process_block) == 48 &&
              offsetof(process_block, name) == 32);
static_assert(sizeof(provider_block) == 32 && offsetof(provider_block, schema) == 24);
static_assert(sizeof(records_block) == 64 && offsetof(records_block, earliest) == 32 &&
              offsetof(records_block, decoded_size) == 56);
static_assert(sizeof(loss_block) == 112 && offsetof(loss_block, process) == 72 &&
              offsetof(loss_block, unattached) == loss_head_min);
static_assert(sizeof(note_block) == 48);
static_assert(sizeof(end_block) == 24);
static_assert(sizeof(index_block) == 160 && offsetof(index_block, first_clock) == 64 &&
              offsetof(index_block, offset_min) == 128 && offsetof(index_block, entries) == 144);
static_assert(sizeof(index_entry) == 32);

/// Whether a reader of any part of the time needs the block.
[[nodiscard]] constexpr bool is_metadata(block_type type) noexcept {
    return type == block_type::schema || type == block_type::process ||
           type == block_type::provider || type == block_type::loss ||
           type == block_type::offsets || type == block_type::note;
}

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
