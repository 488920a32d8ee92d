// SPDX-License-Identifier: MIT
//
// The markers between the records of the kernel module's stream (linux/eventlog_device.h).
#pragma once

#include <linux/eventlog_device.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace elog {

/// A marker. The payload refers to the bytes.
struct stream_marker {
    std::uint32_t type = 0;
    std::size_t size = 0;       // with header and padding
    std::uint64_t context = 0;  // of the records behind it; 0: none
    std::span<const std::uint8_t> payload{};
};

/// The marker at the beginning of untrusted bytes; nullopt if they do not begin with a whole one.
[[nodiscard]] std::optional<stream_marker> peek_marker(
    std::span<const std::uint8_t> bytes) noexcept;

/// What a marker of the type EVENTLOG_MARKER_RUN contains; nullopt if it is too short.
[[nodiscard]] std::optional<eventlog_run> run_of(const stream_marker& marker) noexcept;

using run_marker_bytes = std::array<std::uint8_t, EVENTLOG_RUN_MARKER_SIZE>;

/// A marker of that type.
[[nodiscard]] run_marker_bytes make_run_marker(const eventlog_run& run,
                                               std::uint64_t context = 0) noexcept;

}  // namespace elog
