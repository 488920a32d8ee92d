// SPDX-License-Identifier: MIT
//
// Functions that all readers of blocks share: heads and bodies of payloads, validation, totals.
#pragma once

#include <linux/eventlog.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <eventlog/schema_format.hpp>

#include "base/user_error.hpp"
#include "file/block_file.hpp"
#include "file/loss_limits.hpp"
#include "record/clock_converter.hpp"
#include "record/loss.hpp"
#include "schema/provider_schema.hpp"

namespace elog {

/// The size of a payload's head; 0 if it is invalid.
[[nodiscard]] inline std::size_t head_size_of(std::span<const std::uint8_t> payload) noexcept {
    std::uint16_t size = 0;
    if (payload.size() < sizeof size) {
        return 0;
    }
    std::memcpy(&size, payload.data(), sizeof size);
    return size <= std::min(payload.size(), block_head_max) ? size : 0;
}

/// The head of a payload, of which a later version may have more members; nullopt if it is smaller
/// than in this version.
template <class Block>
std::optional<Block> block_head(std::span<const std::uint8_t> payload) noexcept {
    Block block{};
    if (head_size_of(payload) < sizeof block) {
        return std::nullopt;
    }
    std::memcpy(&block, payload.data(), sizeof block);
    return block;
}

/// What follows the head.
[[nodiscard]] inline std::span<const std::uint8_t> body_of(
    std::span<const std::uint8_t> payload) noexcept {
    return payload.subspan(head_size_of(payload));
}

/// The same as block_head; reports a head that is too small.
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
    const auto payload = place.type() == type && !has_unknown_flags(place.header)
                             ? file.load(place)
                             : std::optional<std::vector<std::uint8_t>>();
    return payload ? block_head<Block>(*payload) : std::nullopt;
}

[[nodiscard]] constexpr bool is_known(block_type type) noexcept {
    return type >= block_type::host && type <= block_type::note;
}

[[nodiscard]] constexpr bool is_valid(const segment_block& segment) noexcept {
    return segment.segment == 0 && segment.ring_count >= 1 &&
           segment.ring_count <= EVENTLOG_RINGS_MAX &&
           (segment.clock == EVENTLOG_CLOCK_TSC || segment.clock == EVENTLOG_CLOCK_MONOTONIC);
}

[[nodiscard]] constexpr eventlog_clock_sample sample_of(const clock_reading& clock) noexcept {
    return {clock.clock, clock.monotonic, clock.realtime};
}

/// Whether a note is of the begin or the end of a pause.
[[nodiscard]] constexpr bool is_of_pause(const note_block& note) noexcept {
    const auto kind = static_cast<note_kind>(note.kind);
    return kind == note_kind::pause || kind == note_kind::resume;
}

/// Whether a note is of a pause, but does not name it: that is damage.
[[nodiscard]] constexpr bool is_pause_without_number(const note_block& note) noexcept {
    return is_of_pause(note) && note.values[1] == 0;
}

/// Removes a u8 length and a name of that many bytes from the beginning, which may be empty;
/// nullopt if it is not there, or contains what a name cannot: it is printed.
[[nodiscard]] inline std::optional<std::string> take_name(std::span<const std::uint8_t>& bytes) {
    if (bytes.empty() || bytes.size() - 1 < bytes.front()) {
        return std::nullopt;
    }
    const std::span<const std::uint8_t> text = bytes.subspan(1, bytes.front());
    bytes = bytes.subspan(1 + text.size());
    std::string name(text.begin(), text.end());
    const bool is_valid = name.empty() || schema_format::is_identifier(name.data(), name.size());
    return is_valid ? std::optional(std::move(name)) : std::nullopt;
}

/// The head of a records block, unverified; nullopt if it is too small.
[[nodiscard]] inline std::optional<records_block> peek_records_head(block_file& file,
                                                                    const block_location& place) {
    const std::span<const std::uint8_t> bytes = file.peek(place, sizeof(records_block));
    records_block head{};
    if (bytes.empty()) {
        return std::nullopt;
    }
    std::memcpy(&head, bytes.data(), sizeof head);
    return head.head_size >= sizeof head ? std::optional(head) : std::nullopt;
}

/// The schema in a block, unverified; nullopt if the block does not have all of it.
[[nodiscard]] inline std::optional<std::span<const std::uint8_t>> schema_bytes(
    const schema_block& block, std::span<const std::uint8_t> payload) noexcept {
    const std::span<const std::uint8_t> body = body_of(payload);
    return body.size() < block.size ? std::nullopt : std::optional(body.first(block.size));
}

inline void take_process_of(provider_instance& provider, const process_block& process) {
    provider.pid = process.pid;
    provider.uid = process.uid;
    provider.start_time = process.start_time;
    provider.parent = process.parent;
    const auto* name = static_cast<const char*>(process.name);
    provider.process.assign(name, ::strnlen(name, sizeof process.name));
}

/// nullopt if the block is too short or of an unknown scope.
[[nodiscard]] inline std::optional<loss_report> loss_of(std::span<const std::uint8_t> payload) {
    loss_block known{};
    const loss_block* const block = &known;
    const std::size_t head_size = head_size_of(payload);
    if (head_size < loss_head_min) {
        return std::nullopt;
    }
    std::memcpy(&known, payload.data(), std::min(head_size, sizeof known));
    const bool is_of_ring = block->scope == static_cast<std::uint8_t>(loss_scope::ring);
    if (!is_of_ring && block->scope != static_cast<std::uint8_t>(loss_scope::provider)) {
        return std::nullopt;
    }
    loss_report loss;
    loss.scope = is_of_ring ? loss_scope::ring : loss_scope::provider;
    loss.index = block->index;
    loss.full = block->full;
    loss.too_large = block->too_large;
    loss.busy = block->busy;
    loss.unattached = block->unattached;
    loss.refused = block->refused;
    loss.no_memory = block->no_memory;
    loss.damaged = block->damaged;
    loss.overwritten = block->overwritten;
    loss.unwritten = block->unwritten;
    loss.pid = block->pid;
    loss.start_time = block->start_time;
    const auto* process = static_cast<const char*>(block->process);
    loss.process.assign(process, ::strnlen(process, sizeof block->process));
    std::span<const std::uint8_t> body = body_of(payload);
    loss.provider = take_name(body).value_or("");
    return loss;
}

/// The same without impossible counts; reports these, and an invalid block.
[[nodiscard]] inline std::optional<loss_report> checked_loss(block_file& file,
                                                             const block_location& place,
                                                             std::span<const std::uint8_t> payload,
                                                             std::uint64_t largest) {
    std::optional<loss_report> loss = loss_of(payload);
    if (!loss) {
        file.report("the loss at {} is invalid", place.offset);
    } else if (drop_impossible_counts(*loss, largest)) {
        file.report("the loss at {} counts more events than there can have been, which are left "
                    "out",
                    place.offset);
    }
    return loss;
}

/// possible_losses(); reports the others.
[[nodiscard]] inline std::uint64_t checked_losses_before(block_file& file,
                                                         const block_location& place,
                                                         const records_block& block,
                                                         std::uint64_t next,
                                                         std::uint64_t largest) {
    const std::uint64_t possible = possible_losses(block, next, largest);
    if (possible != block.lost_before) {
        file.report("the records at {} state {} events lost before them, of which {} are possible",
                    place.offset, block.lost_before, possible);
    }
    return possible;
}

/// Reports a difference between the end block and the numbers of records read and lost, of which
/// there can be `largest`.
inline void compare_totals(block_file& file, const end_block& end, std::uint64_t records,
                           std::uint64_t lost, std::uint64_t largest) {
    if (file.damages().empty() && (end.records != records || end.lost != lost)) {
        file.report("the end counts {} records and {} lost, but there are {} and {}", end.records,
                    end.lost, records, lost);
    } else if (end.records > largest) {
        file.report("the end counts {} records, more than there can have been", end.records);
    } else if (end.records > records) {
        file.report("{} of {} records are missing where the file is damaged", end.records - records,
                    end.records);
    }
}

/// Throws user_error if a file is of another version or requires an unknown feature.
void check_features(const std::string& path, std::uint32_t version, std::uint64_t required);

/// Throws user_error if a reader must know the block's type, and this one does not.
void check_block_type(const std::string& path, std::uint16_t type);

/// Throws user_error for a segment other than the first one, which has rings and a clock of its
/// own.
void check_segment_number(const std::string& path, std::uint16_t number);

/// Throws user_error for a file that has lost what states the rings and the clock of its records.
/// `has_records`: repair_file recovers some.
[[noreturn]] inline void reject_without_segment(const std::string& path, bool has_records) {
    if (has_records) {
        throw user_error(
            "The file {} has lost the blocks that state the clock and the rings of its records. "
            "Recover the records with: elog repair FILE -o NEW",
            path);
    }
    throw user_error(
        "The file {} has lost the blocks that state the clock and the rings of its records, and "
        "has no whole block of records. Nothing can be recovered; record again.",
        path);
}

}  // namespace elog
