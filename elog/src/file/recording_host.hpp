// SPDX-License-Identifier: MIT
//
// Where and with what the records of a file were recorded: contents of its host and segment blocks.
#pragma once

#include <linux/eventlog.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "file/block_file.hpp"
#include "file/file_format.hpp"

namespace elog {

struct recording_host {
    std::uint32_t clock = EVENTLOG_CLOCK_MONOTONIC;
    std::uint32_t ring_count = 1;  // the last one is shared, the others belong to CPUs
    std::string host_name{};
    std::string kernel{};   // release
    std::string machine{};  // architecture
    std::string command{};  // that was recorded; empty if there was none
    std::array<std::uint8_t, 16> boot{};
    std::uint64_t recording = 0;  // the same in all files of one recording
    std::uint32_t part = 0;       // position in the recording, from 1; 0 for a single file
    segment_origin origin = segment_origin::unknown;
    std::uint64_t serial = 0;  // of the recorded region; 0: unknown
};

/// This machine, without `recording` and `part`.
[[nodiscard]] recording_host this_host(std::uint32_t clock, std::uint32_t ring_count);

/// Whether the host states another version or other features than the file's sound header: then it
/// is damaged. Of a newer version, both state it.
[[nodiscard]] constexpr bool contradicts_header(bool has_header, const host_block& host) noexcept {
    return has_header &&
           (host.version != file_version || (host.required_features & ~file_features_known) != 0);
}

/// From the first valid blocks of the file; nullopt without a segment, empty names without a host.
/// Reports no damage. Throws user_error if they require features that this version does not have.
[[nodiscard]] std::optional<recording_host> find_recording_host(block_file& file);

/// For a file without a segment: what its records and clock readings show, with the names of a host
/// block if there is one. nullopt without records. Reads the whole file.
[[nodiscard]] std::optional<recording_host> deduce_recording_host(const std::string& path);

}  // namespace elog
