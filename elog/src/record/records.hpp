// SPDX-License-Identifier: MIT
//
// Runs of records, as they come out of a ring or a file, and walking through them.
#pragma once

#include <linux/eventlog.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace elog {

/// A record, with its payload in a buffer that has been checked.
struct record_view {
    eventlog_record header{};
    std::span<const std::uint8_t> payload{};
};

/// Whether this version knows what all flags of a record mean. If not, the payload may be anything:
/// such a record is skipped, counted and told of, and shown as nothing.
[[nodiscard]] constexpr bool is_supported(const eventlog_record& header) noexcept {
    return (header.flags & ~EVENTLOG_RECORD_FLAGS) == 0;
}

/// Whether a record's time is by a clock of its program's own, and may be any: nothing may wait for
/// it, and it does not tell where in its ring the record stands.
[[nodiscard]] constexpr bool has_custom_time(const eventlog_record& header) noexcept {
    return (header.flags & EVENTLOG_RECORD_CUSTOM_TIME) != 0;
}

/// Records that stood one behind the other in a ring, none lost between them.
struct record_run {
    std::uint32_t ring = 0;
    std::uint64_t lost_before = 0;  // missing on this ring just before the first of them
    std::uint64_t sequence = 0;     // attempted on this ring before the first of them
    std::uint64_t count = 0;
    std::span<const std::uint8_t> bytes{};  // whole records, as check_records found them
    bool overwritten = false;  // those before: they had been recorded, newer ones took their place
};

constexpr std::size_t padded_size(std::size_t size) noexcept {
    return (size + EVENTLOG_RECORD_ALIGNMENT - 1) / EVENTLOG_RECORD_ALIGNMENT *
           EVENTLOG_RECORD_ALIGNMENT;
}

/// What was found at the beginning of some bytes.
struct checked_records {
    std::uint64_t count = 0;
    std::size_t size = 0;  // bytes of whole, sound records
    bool damaged = false;  // what follows them is not the beginning of a record
};

/// Walks over the records, which may come from anyone, as far as they are whole and sound.
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

/// Takes the first record off bytes that check_records has passed.
[[nodiscard]] inline record_view take_record(std::span<const std::uint8_t>& bytes) noexcept {
    record_view record;
    std::memcpy(&record.header, bytes.data(), sizeof record.header);
    record.payload = bytes.subspan(sizeof record.header, record.header.size - sizeof record.header);
    bytes = bytes.subspan(padded_size(record.header.size));
    return record;
}

}  // namespace elog
