// SPDX-License-Identifier: MIT
#include "record/kernel_records.hpp"

#include <cstring>

namespace elog {

kernel_record peek_kernel_record(std::span<const std::uint8_t> bytes) noexcept {
    kernel_record found;
    eventlog_record header{};
    if (bytes.size() < sizeof header) {
        return found;
    }
    std::memcpy(&header, bytes.data(), sizeof header);
    if (header.size < sizeof header || header.size > EVENTLOG_RECORD_SIZE_MAX) {
        found.damaged = true;
        return found;
    }
    const std::size_t payload_size = header.size - sizeof header;
    found.record.provider = header.provider;
    found.record.event = header.event;
    found.record.time = header.time;
    found.record.thread = header.thread;
    found.record.cpu = header.cpu;
    found.record.flags = header.flags;
    found.size = kernel_record_size(payload_size);
    found.is_whole = found.size <= bytes.size();
    if (found.is_whole) {
        found.record.payload = bytes.subspan(sizeof header, payload_size);
    }
    return found;
}

void store_kernel_record(const record_view& record, std::uint8_t* to) noexcept {
    eventlog_record header{};
    header.size = static_cast<std::uint32_t>(sizeof header + record.payload.size());
    header.provider = static_cast<std::uint16_t>(record.provider);
    header.event = record.event;
    header.time = record.time;
    header.thread = record.thread;
    header.cpu = record.cpu;
    header.flags = record.flags;
    // Zeros for the padding; header and payload overwrite the rest of the last word.
    std::memset(to + kernel_record_size(record.payload.size()) - EVENTLOG_RECORD_ALIGNMENT, 0,
                EVENTLOG_RECORD_ALIGNMENT);
    std::memcpy(to, &header, sizeof header);
    if (!record.payload.empty()) {
        std::memcpy(to + sizeof header, record.payload.data(), record.payload.size());
    }
}

}  // namespace elog
