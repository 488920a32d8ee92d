// SPDX-License-Identifier: MIT
#include "record/ring_records.hpp"

namespace elog {
namespace {

/// Everything but the payload and the padding.
void store_header(const record_view& head, std::size_t payload_size, std::uint8_t* to) noexcept {
    eventlog_record header{};
    header.size = static_cast<std::uint32_t>(sizeof header + payload_size);
    header.provider = static_cast<std::uint16_t>(head.provider);
    header.event = head.event;
    header.time = head.time;
    header.thread = head.thread;
    header.cpu = head.cpu;
    header.flags = head.flags;
    std::memcpy(to, &header, sizeof header);
}

}  // namespace

peeked_record peek_record(std::span<const std::uint8_t> bytes) noexcept {
    peeked_record found;
    if (bytes.size() < sizeof(eventlog_record)) {
        return found;
    }
    const std::size_t size = ring_layout::size_at(bytes.data());
    if (!ring_layout::is_valid_size(size)) {
        found.damaged = true;
        return found;
    }
    ring_layout::decode_header(bytes.data(), found.record);
    found.size = ring_layout::padded_size(size);
    found.is_whole = found.size <= bytes.size();
    if (found.is_whole) {
        found.record.payload =
            bytes.subspan(sizeof(eventlog_record), size - sizeof(eventlog_record));
    }
    return found;
}

void store_record(const record_view& record, std::uint8_t* to) noexcept {
    // Zeros for the padding; header and payload overwrite the rest of the last word.
    std::memset(to + ring_size(record) - EVENTLOG_RECORD_ALIGNMENT, 0, EVENTLOG_RECORD_ALIGNMENT);
    store_header(record, record.payload.size(), to);
    if (!record.payload.empty()) {
        std::memcpy(to + sizeof(eventlog_record), record.payload.data(), record.payload.size());
    }
}

void append_record(std::vector<std::uint8_t>& run, const record_view& record) {
    const std::size_t begin = run.size();
    run.resize(begin + ring_size(record));
    store_record(record, run.data() + begin);
}

void append_run(std::vector<std::uint8_t>& run, const record_run& appended) {
    run.insert(run.end(), appended.bytes.begin(), appended.bytes.end());
}

record_appender::record_appender(std::vector<std::uint8_t>& run) : run_(run), begin_(run.size()) {
    run_.resize(payload_offset());
}

void record_appender::finish(const record_view& head) {
    const std::size_t size = payload_size();
    run_.resize(begin_ + ring_size(size));  // adds zeros
    store_header(head, size, run_.data() + begin_);
}

record_run take_first_records(record_run& rest, std::size_t size_max) {
    record_run first = rest;
    first.count = 0;
    run_reader records(rest);
    record_view record;
    std::size_t size = 0;
    while (records.next(record)) {
        if (first.count != 0 && records.position() > size_max) {
            break;
        }
        size = records.position();
        ++first.count;
    }
    first.bytes = rest.bytes.first(size);
    rest.bytes = rest.bytes.subspan(size);
    rest.count -= first.count;
    rest.sequence += first.count;
    rest.lost_before = 0;
    rest.overwritten = false;
    return first;
}

}  // namespace elog
