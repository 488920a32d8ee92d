// SPDX-License-Identifier: MIT
//
// Runs of records of a ring or a file, and iteration over them.
#pragma once

#include <linux/eventlog.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace elog {

/// A record whose payload is in a buffer that check_records has passed.
struct record_view {
    eventlog_record header{};
    std::span<const std::uint8_t> payload{};
};

/// Whether this version knows all flags of a record. If not, the payload's format is unknown: the
/// record is skipped, counted and reported.
[[nodiscard]] constexpr bool is_supported(const eventlog_record& header) noexcept {
    return (header.flags & ~EVENTLOG_RECORD_FLAGS) == 0;
}

/// Whether a record's time is of its program's custom clock. It may have any value, so nothing may
/// wait for it, and it says nothing about the record's position in its ring.
[[nodiscard]] constexpr bool has_custom_time(const eventlog_record& header) noexcept {
    return (header.flags & EVENTLOG_RECORD_CUSTOM_TIME) != 0;
}

/// Consecutive records of a ring, with no loss between them.
struct record_run {
    std::uint32_t ring = 0;
    std::uint64_t lost_before = 0;  // events missing on this ring directly before the first record
    std::uint64_t sequence = 0;     // events attempted on this ring before the first record
    std::uint64_t count = 0;
    std::span<const std::uint8_t> bytes{};  // whole records, as check_records found them
    bool overwritten = false;               // those of lost_before: recorded, then overwritten
};

constexpr std::size_t padded_size(std::size_t size) noexcept {
    return (size + EVENTLOG_RECORD_ALIGNMENT - 1) / EVENTLOG_RECORD_ALIGNMENT *
           EVENTLOG_RECORD_ALIGNMENT;
}

/// The valid records at the beginning of some bytes.
struct checked_records {
    std::uint64_t count = 0;
    std::size_t size = 0;  // bytes of whole, valid records
    bool damaged = false;  // what follows is not the beginning of a record
};

/// Counts the whole and valid records at the beginning of untrusted bytes.
[[nodiscard]] inline checked_records check_records(std::span<const std::uint8_t> bytes) noexcept {
    checked_records found;
    while (bytes.size() - found.size >= sizeof(eventlog_record)) {
        std::uint32_t size = 0;
        std::memcpy(&size, bytes.data() + found.size, sizeof size);
        if (size < sizeof(eventlog_record) || size > EVENTLOG_RECORD_SIZE_MAX) {
            found.damaged = true;
            break;
        }
        if (padded_size(size) > bytes.size() - found.size) {
            break;
        }
        found.size += padded_size(size);
        ++found.count;
    }
    return found;
}

/// Removes and returns the first record of bytes that check_records has passed.
[[nodiscard]] inline record_view take_record(std::span<const std::uint8_t>& bytes) noexcept {
    record_view record;
    std::memcpy(&record.header, bytes.data(), sizeof record.header);
    record.payload = bytes.subspan(sizeof record.header, record.header.size - sizeof record.header);
    bytes = bytes.subspan(padded_size(record.header.size));
    return record;
}

}  // namespace elog
