// SPDX-License-Identifier: MIT
//
// The words in front of a record's payload, without what the write itself adds: time, thread, CPU.
// linux/eventlog.h explains the kinds of records.
#pragma once

#include <linux/eventlog.h>

#include <cstddef>
#include <cstdint>

namespace eventlog::core {

/// The upper half of word 0 is a sum: an event's position in its schema, the base of its provider's
/// numbers and, of a short record, the size of the payload.
inline constexpr unsigned event_in_upper_half = EVENTLOG_EVENT_SHIFT - 32;
static_assert(EVENTLOG_SHORT_SIZE_SHIFT == 32);

/// A provider's part of the upper half.
constexpr std::uint64_t provider_part(std::uint32_t event_base) noexcept {
    return std::uint64_t{event_base} << event_in_upper_half;
}

/// Word 0 of a short record. Bits 40 and 41, the kind, are 0.
constexpr std::uint64_t short_head(std::size_t payload_size, std::uint64_t provider_head,
                                   std::uint32_t event) noexcept {
    return (provider_head + (std::uint64_t{event} << event_in_upper_half) + payload_size)
           << EVENTLOG_SHORT_SIZE_SHIFT;
}

/// Word 0 of an extended record.
constexpr std::uint64_t extended_head(std::uint64_t provider_head, std::uint32_t event) noexcept {
    return short_head(0, provider_head, event) | std::uint64_t{EVENTLOG_KIND_EXTENDED}
                                                     << EVENTLOG_KIND_SHIFT;
}

/// Word 2 of an extended record.
constexpr std::uint64_t extended_word(std::uint16_t flags, std::size_t payload_size) noexcept {
    return std::uint64_t{flags} << EVENTLOG_FLAGS_SHIFT | payload_size;
}

/// The thread's part of word 1.
constexpr std::uint64_t thread_part(std::uint32_t thread) noexcept {
    return std::uint64_t{thread} << EVENTLOG_THREAD_SHIFT;
}

}  // namespace eventlog::core
