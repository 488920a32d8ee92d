// SPDX-License-Identifier: MIT
//
// Functions that all readers of blocks share: structs from payloads, validation of hosts, totals.
#pragma once

#include <linux/eventlog.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>

#include "base/user_error.hpp"
#include "file/block_file.hpp"
#include "record/clock_converter.hpp"
#include "schema/provider_schema.hpp"

namespace elog {

/// The first part of a payload; nullopt if the payload is too short.
template <class Block>
std::optional<Block> block_head(std::span<const std::uint8_t> payload) noexcept {
    Block block{};
    if (payload.size() < sizeof block) {
        return std::nullopt;
    }
    std::memcpy(&block, payload.data(), sizeof block);
    return block;
}

/// The same; reports a payload that is too short.
template <class Block>
std::optional<Block> checked_head(block_file& file, const block_location& place,
                                  std::span<const std::uint8_t> payload) {
    const std::optional<Block> block = block_head<Block>(payload);
    if (!block) {
        file.report("the block at {} is too short for its type", place.offset);
    }
    return block;
}

/// The same from the file; nullopt if the block has another type.
template <class Block>
std::optional<Block> load_head(block_file& file, const block_location& place, block_type type) {
    const auto payload = place.type() == type && place.header.flags == 0
                             ? file.load(place)
                             : std::optional<std::vector<std::uint8_t>>();
    return payload ? block_head<Block>(*payload) : std::nullopt;
}

/// A block with a flag that this version does not know must be skipped.
[[nodiscard]] constexpr bool has_unknown_flags(const block_header& header) noexcept {
    return (header.flags & ~block_flags) != 0;
}

[[nodiscard]] constexpr bool is_valid(const host_block& host) noexcept {
    return host.ring_count >= 1 && host.ring_count <= EVENTLOG_RINGS_MAX &&
           (host.clock == EVENTLOG_CLOCK_TSC || host.clock == EVENTLOG_CLOCK_MONOTONIC);
}

[[nodiscard]] constexpr eventlog_clock_sample sample_of(const clock_block& clock) noexcept {
    return {clock.clock, clock.monotonic, clock.realtime};
}

/// Throws user_error if the schema is invalid.
[[nodiscard]] inline provider_instance provider_of(const provider_block& block,
                                                   std::span<const std::uint8_t> schema) {
    const auto* name = static_cast<const char*>(block.process);
    return {block.id, block.pid, block.uid,
            std::string(name, ::strnlen(name, sizeof block.process)),
            provider_schema::parse(schema)};
}

/// Reports a difference between the end block and the numbers of records read and lost.
inline void compare_totals(block_file& file, const end_block& end, std::uint64_t records,
                           std::uint64_t lost) {
    if (file.damages().empty() && (end.records != records || end.lost != lost)) {
        file.report("the end counts {} records and {} lost, but there are {} and {}", end.records,
                    end.lost, records, lost);
    } else if (end.records > records) {
        file.report("{} of {} records are missing where the file is damaged", end.records - records,
                    end.records);
    }
}

[[noreturn]] inline void reject_version(const std::string& path, std::uint32_t version) {
    throw user_error(
        "The file {} has version {} of the format; this elog knows version {}. Use an elog that "
        "knows it.",
        path, version, file_version);
}

[[noreturn]] inline void reject_without_host(const std::string& path) {
    throw user_error(
        "The file {} has lost the blocks that say how it was recorded; nothing in it can be read. "
        "Record again.",
        path);
}

}  // namespace elog
