// SPDX-License-Identifier: MIT
//
// The .elog file. Little-endian on every machine.
//
//   0   struct file_header
//   32  block, block, ...
//
//   block    struct block_header (32 bytes), payload, zero bytes up to a multiple of 8
//
// Blocks are self-contained and follow each other without gaps. Each header has a magic number and
// a checksum of its own, so that after damage the next whole block is found by looking at every
// eighth byte; each payload has a checksum. `number` counts the blocks of a file from 0, so that
// one that is missing altogether is noticed. A reader skips blocks of a type it does not know.
//
//   host       struct host_block: where and with what rings it was recorded; the first block
//   clock      struct clock_block: readings of three clocks; at the beginning, at least each second
//              while records come, and at the end
//   provider   struct provider_block, then the schema; before the first record that names it
//   records    struct records_block, then bytes of a ring as they were (struct eventlog_record)
//   loss       struct loss_block: what no records block could tell
//   end        struct end_block: the recording was ended properly; the last block
//
// A file without `end` was cut off, or is still being written: what is there is good.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace elog {

static_assert(std::endian::native == std::endian::little,
              "elog: .elog files are little-endian, and converting to it while recording is not "
              "written yet. Build libeventlog alone on this machine.");

inline constexpr std::uint64_t file_magic = 0x0a1a0a0d474f4c45;  // "ELOG\r\n\x1a\n"
inline constexpr std::uint32_t file_version = 1;
inline constexpr std::uint32_t block_magic = 0x4b4c4245;  // "EBLK"
inline constexpr std::uint32_t block_payload_max = 64U << 20U;
inline constexpr std::size_t block_alignment = 8;

enum class block_type : std::uint16_t {
    host = 1,
    clock = 2,
    provider = 3,
    records = 4,
    loss = 5,
    end = 6,
};

struct file_header {
    std::uint64_t magic;
    std::uint32_t version;
    std::uint32_t reserved[4];
    std::uint32_t checksum;  // CRC-32C of the bytes before it
};

struct block_header {
    std::uint32_t magic;
    std::uint16_t type;
    std::uint16_t flags;  // 0
    std::uint32_t size;   // bytes of payload, without padding
    std::uint32_t payload_checksum;
    std::uint64_t number;
    std::uint32_t reserved;  // 0
    std::uint32_t checksum;  // CRC-32C of the bytes before it
};

struct host_block {
    std::uint32_t clock;       // enum eventlog_clock
    std::uint32_t ring_count;  // the last one is shared, the others belong to CPUs
    char host_name[64];        // NUL-terminated, as the next two
    char kernel[64];
    char machine[32];
};

struct clock_block {
    std::uint64_t clock;
    std::uint64_t monotonic;  // nanoseconds
    std::uint64_t realtime;   // nanoseconds since 1970
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
    std::uint32_t reserved;
    std::uint64_t count;
    std::uint64_t sequence;     // attempted on this ring before the first record
    std::uint64_t lost_before;  // of these, lost since the last record before it
    std::uint64_t first_time;   // in units of the host's clock
    std::uint64_t last_time;
};

enum class loss_scope : std::uint32_t {
    ring = 1,      // lost at the end of the ring, behind its last record
    provider = 2,  // counted by a provider and by no ring
};

struct loss_block {
    std::uint32_t scope;
    std::uint32_t index;  // of ring or provider
    std::uint64_t full;
    std::uint64_t too_large;
    std::uint64_t busy;
    std::uint64_t damaged;
};

struct end_block {
    std::uint64_t records;
    std::uint64_t lost;
};

static_assert(sizeof(file_header) == 32 && offsetof(file_header, checksum) == 28);
static_assert(sizeof(block_header) == 32 && offsetof(block_header, number) == 16 &&
              offsetof(block_header, checksum) == 28);
static_assert(sizeof(host_block) == 168 && offsetof(host_block, kernel) == 72 &&
              offsetof(host_block, machine) == 136);
static_assert(sizeof(clock_block) == 24);
static_assert(sizeof(provider_block) == 32 && offsetof(provider_block, process) == 16);
static_assert(sizeof(records_block) == 48 && offsetof(records_block, first_time) == 32);
static_assert(sizeof(loss_block) == 40 && offsetof(loss_block, full) == 8);
static_assert(sizeof(end_block) == 16);

}  // namespace elog
