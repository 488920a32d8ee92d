// SPDX-License-Identifier: MIT
//
// Checks, reads and appends records in the layout of a ring, struct eventlog_record. No other code
// of elog knows that layout.
//
// Bytes are untrusted until check_records or peek_record has passed them.
#pragma once

#include <linux/eventlog.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "record/records.hpp"

namespace elog {

/// Limits of a record in a ring.
inline constexpr std::size_t payload_size_max = EVENTLOG_RECORD_SIZE_MAX - sizeof(eventlog_record);
inline constexpr std::uint32_t record_provider_max = UINT16_MAX;

namespace ring_layout {

template <class Value>
[[nodiscard]] inline Value load(const std::uint8_t* from) noexcept {
    Value value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

constexpr std::size_t padded_size(std::size_t size) noexcept {
    return (size + EVENTLOG_RECORD_ALIGNMENT - 1) / EVENTLOG_RECORD_ALIGNMENT *
           EVENTLOG_RECORD_ALIGNMENT;
}

/// Without padding, as in the record at `at`.
[[nodiscard]] inline std::size_t size_at(const std::uint8_t* at) noexcept {
    return load<std::uint32_t>(at + offsetof(eventlog_record, size));
}

[[nodiscard]] constexpr bool is_valid_size(std::size_t size) noexcept {
    return size >= sizeof(eventlog_record) && size <= EVENTLOG_RECORD_SIZE_MAX;
}

/// All but the payload.
inline void decode_header(const std::uint8_t* at, record_view& record) noexcept {
    record.provider = load<std::uint16_t>(at + offsetof(eventlog_record, provider));
    record.event = load<std::uint16_t>(at + offsetof(eventlog_record, event));
    record.time = load<std::uint64_t>(at + offsetof(eventlog_record, time));
    record.thread = load<std::uint32_t>(at + offsetof(eventlog_record, thread));
    record.cpu = load<std::uint16_t>(at + offsetof(eventlog_record, cpu));
    record.flags = load<std::uint16_t>(at + offsetof(eventlog_record, flags));
}

}  // namespace ring_layout

/// The bytes that a record with such a payload takes in a ring, padding included.
[[nodiscard]] constexpr std::size_t ring_size(std::size_t payload_size) noexcept {
    return ring_layout::padded_size(sizeof(eventlog_record) + payload_size);
}

[[nodiscard]] constexpr std::size_t ring_size(const record_view& record) noexcept {
    return ring_size(record.payload.size());
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
        const std::size_t size = ring_layout::size_at(bytes.data() + found.size);
        if (!ring_layout::is_valid_size(size)) {
            found.damaged = true;
            break;
        }
        if (ring_layout::padded_size(size) > bytes.size() - found.size) {
            break;
        }
        found.size += ring_layout::padded_size(size);
        ++found.count;
    }
    return found;
}

/// What untrusted bytes begin with.
struct peeked_record {
    record_view record{};   // the payload only if is_whole
    std::size_t size = 0;   // in the ring, with padding; 0: the bytes end within the header
    bool is_whole = false;  // the bytes contain all of it
    bool damaged = false;   // not the beginning of a record
};

/// For streams whose records are checked one by one.
[[nodiscard]] peeked_record peek_record(std::span<const std::uint8_t> bytes) noexcept;

/// Iterates over the records of bytes that check_records has passed. The bytes must stay valid;
/// payloads refer to them. A record may depend on earlier ones of its run, so the bytes must begin
/// where a run begins.
class run_reader {
  public:
    run_reader() = default;
    explicit run_reader(std::span<const std::uint8_t> checked) noexcept
        : begin_(checked.data()), at_(begin_), end_(begin_ + checked.size()) {}
    explicit run_reader(const record_run& run) noexcept : run_reader(run.bytes) {}

    /// Decodes the next record. After the last one it returns false and does not change `record`.
    [[nodiscard]] bool next(record_view& record) noexcept {
        if (at_ == end_) {
            return false;
        }
        const std::size_t size = ring_layout::size_at(at_);
        ring_layout::decode_header(at_, record);
        record.payload = {at_ + sizeof(eventlog_record), size - sizeof(eventlog_record)};
        last_ = at_;
        at_ += ring_layout::padded_size(size);
        return true;
    }

    /// Whether next() has returned all records.
    [[nodiscard]] bool is_at_end() const noexcept { return at_ == end_; }
    /// Bytes of the records that next() has returned.
    [[nodiscard]] std::size_t position() const noexcept {
        return static_cast<std::size_t>(at_ - begin_);
    }

    /// Appends the record that next() has returned last to those of another run, unchanged. There
    /// must be such a record.
    void append_last_to(std::vector<std::uint8_t>& run) const { run.insert(run.end(), last_, at_); }

  private:
    const std::uint8_t* begin_ = nullptr;
    const std::uint8_t* last_ = nullptr;  // what next() has returned
    const std::uint8_t* at_ = nullptr;
    const std::uint8_t* end_ = nullptr;
};

/// Stores a record into ring_size(record) bytes. Its payload has at most payload_size_max bytes,
/// and its provider's number is at most record_provider_max.
void store_record(const record_view& record, std::uint8_t* to) noexcept;

/// Appends a record, with the limits of store_record, to those of a run.
void append_record(std::vector<std::uint8_t>& run, const record_view& record);

/// Appends all records of a run.
void append_run(std::vector<std::uint8_t>& run, const record_run& appended);

/// Appends a record whose payload is built in place, at the end of the run's bytes.
class record_appender {
  public:
    /// From here on the caller appends the payload to `run`.
    explicit record_appender(std::vector<std::uint8_t>& run);

    /// Where the payload begins in the run's bytes.
    [[nodiscard]] std::size_t payload_offset() const noexcept {
        return begin_ + sizeof(eventlog_record);
    }
    [[nodiscard]] std::size_t payload_size() const noexcept {
        return run_.size() - payload_offset();
    }
    /// Completes the record with all members of `head` but its payload. The limits of store_record
    /// apply.
    void finish(const record_view& head);
    /// Removes what has been appended.
    void discard() { run_.resize(begin_); }

  private:
    std::vector<std::uint8_t>& run_;
    std::size_t begin_;
};

/// Removes and returns the first records of a run, up to `size_max` bytes, but at least one.
[[nodiscard]] record_run take_first_records(record_run& rest, std::size_t size_max);

/// Replaces each record's time by map(time), in bytes that check_records has passed.
template <class Map>
void map_times(std::span<std::uint8_t> checked, const Map& map) {
    for (std::size_t at = 0; at < checked.size();) {
        std::uint8_t* const record = checked.data() + at;
        std::uint8_t* const place = record + offsetof(eventlog_record, time);
        const std::uint64_t time = map(ring_layout::load<std::uint64_t>(place));
        std::memcpy(place, &time, sizeof time);
        at += ring_layout::padded_size(ring_layout::size_at(record));
    }
}

}  // namespace elog
