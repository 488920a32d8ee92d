// SPDX-License-Identifier: MIT
//
// A decoded record, and runs of records of a ring or a file. ring_records.hpp iterates over a run.
#pragma once

#include <linux/eventlog.h>

#include <cstdint>
#include <span>

namespace elog {

class event_numbers;

/// The provider of a record whose event number no known provider has.
inline constexpr std::uint32_t unknown_provider = UINT32_MAX;

/// A record, independent of its form in a ring or a file. The payload belongs to the run.
struct record_view {
    std::uint32_t provider = 0;  // index in the recording, or unknown_provider
    std::uint16_t event = 0;     // index in the provider's schema
    std::uint16_t cpu = 0;
    std::uint16_t flags = 0;
    std::uint32_t thread = 0;
    std::uint64_t time = 0;  // on the region's clock
    std::span<const std::uint8_t> payload{};
};

/// Whether this version knows all required flags of a record. If not, the payload's format is
/// unknown: the record is skipped, counted and reported.
[[nodiscard]] constexpr bool is_supported(std::uint16_t flags) noexcept {
    return (flags & EVENTLOG_RECORD_FLAGS_REQUIRED & ~EVENTLOG_RECORD_FLAGS) == 0;
}
[[nodiscard]] constexpr bool is_supported(const record_view& record) noexcept {
    return is_supported(record.flags);
}

/// Whether a record's time is of its program's custom clock. It may have any value, so nothing may
/// wait for it, and it says nothing about the record's position in its ring.
[[nodiscard]] constexpr bool has_custom_time(const record_view& record) noexcept {
    return (record.flags & EVENTLOG_RECORD_CUSTOM_TIME) != 0;
}

/// Whether the producer has shortened the payload's texts.
[[nodiscard]] constexpr bool is_truncated(const record_view& record) noexcept {
    return (record.flags & EVENTLOG_RECORD_TRUNCATED) != 0;
}

/// Consecutive records of a ring, with no loss between them.
struct record_run {
    std::uint32_t ring = 0;
    std::uint64_t lost_before = 0;  // events missing on this ring directly before the first record
    std::uint64_t sequence = 0;     // events attempted on this ring before the first record
    std::uint64_t count = 0;
    std::span<const std::uint8_t> bytes{};  // whole records, as check_records found them
    bool overwritten = false;               // those of lost_before: recorded, then overwritten
    std::uint64_t context = 0;              // of the ring before the first record; 0: unknown
    const event_numbers* events = nullptr;  // of the recording; outlives the run
};

}  // namespace elog
