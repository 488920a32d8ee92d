// SPDX-License-Identifier: MIT
//
// Reads the records of a buffer of this process. linux/eventlog.h describes their layout.
#pragma once

#include <linux/eventlog.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "ring/ring_transition.hpp"

namespace eventlog::core {

struct ring_record {
    std::uint32_t number = 0;  // of the event, in the region
    std::uint64_t time = 0;    // in units of the region's clock
    std::uint32_t thread = 0;
    std::uint16_t cpu = 0;
    std::uint16_t flags = 0;
    std::span<const unsigned char> payload;
    std::size_t size = 0;  // bytes in the buffer, with padding
};

/// Decodes the record at the beginning of the bytes of a ring, that of CPU `cpu`. `context` is that
/// of the ring in front of the record, then that behind it. False, and nothing changes, if there is
/// no whole and valid record.
[[nodiscard]] inline bool read_record(std::span<const unsigned char> bytes, std::uint16_t cpu,
                                      std::uint64_t& context, ring_record& found) noexcept {
    const auto word = [&](std::size_t index) {
        std::uint64_t value = 0;
        std::memcpy(&value, bytes.data() + index * sizeof value, sizeof value);
        return value;
    };
    if (bytes.size() < EVENTLOG_SHORT_HEADER_SIZE) {
        return false;
    }
    const std::uint64_t head = word(0);
    const auto kind = static_cast<unsigned>(head >> EVENTLOG_KIND_SHIFT) & EVENTLOG_KIND_MASK;
    std::size_t header = kind == EVENTLOG_KIND_SHORT      ? EVENTLOG_SHORT_HEADER_SIZE
                         : kind == EVENTLOG_KIND_EXTENDED ? EVENTLOG_EXTENDED_HEADER_SIZE
                                                          : EVENTLOG_CONTEXT_HEADER_SIZE;
    if (head >> EVENTLOG_EVENT_SHIFT == 0 || kind == EVENTLOG_KIND_MARKER ||
        bytes.size() < header || (kind == EVENTLOG_KIND_SHORT && context == 0)) {
        return false;
    }
    ring_record record;
    std::size_t payload_size = head >> EVENTLOG_SHORT_SIZE_SHIFT & EVENTLOG_SHORT_SIZE_MAX;
    const std::uint64_t own_context = kind == EVENTLOG_KIND_SHORT ? context : word(1);
    record.cpu = cpu;
    if (kind == EVENTLOG_KIND_EXTENDED) {
        const std::uint64_t extended = word(2);
        record.cpu = static_cast<std::uint16_t>(extended >> EVENTLOG_CPU_SHIFT);
        record.flags = static_cast<std::uint16_t>(extended >> EVENTLOG_FLAGS_SHIFT);
        payload_size = extended & UINT16_MAX;
        // This library writes no extension words.
        if (extended >> EVENTLOG_EXTENSION_SHIFT != 0 ||
            (record.flags & ~EVENTLOG_RECORD_FLAGS) != 0) {
            return false;
        }
    }
    record.size = units_of(header + payload_size) * EVENTLOG_RECORD_ALIGNMENT;
    if (record.size > EVENTLOG_RECORD_SIZE_MAX || record.size > bytes.size()) {
        return false;
    }
    record.number = static_cast<std::uint32_t>(head >> EVENTLOG_EVENT_SHIFT);
    record.time = own_context << 32U | static_cast<std::uint32_t>(head);
    record.thread = static_cast<std::uint32_t>(own_context >> EVENTLOG_THREAD_SHIFT);
    record.payload = bytes.subspan(header, payload_size);
    context = kind == EVENTLOG_KIND_CONTEXT ? own_context : context;
    found = record;
    return true;
}

}  // namespace eventlog::core
