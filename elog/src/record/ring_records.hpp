// SPDX-License-Identifier: MIT
//
// Checks, reads and appends records in the layout of a ring, which linux/eventlog.h describes. No
// other code of elog knows that layout.
//
// A short record has the context, thread and upper time, of an earlier one. So bytes are read from
// their beginning on, with the context that holds there. Bytes are untrusted until check_records
// has passed them.
//
// Records that elog itself appends name their provider and event, because providers of the kernel,
// of imported data and of merged files have no event numbers. Such a record is an extended one with
// bit 56 of its word 2, and an extension word more: provider 63-32, event 15-0. Producers do not
// write them.
#pragma once

#include <linux/eventlog.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "record/event_numbers.hpp"
#include "record/records.hpp"

namespace elog {

/// Limits of a record.
inline constexpr std::size_t payload_size_max =
    EVENTLOG_RECORD_SIZE_MAX - EVENTLOG_EXTENDED_HEADER_SIZE;
inline constexpr std::uint32_t record_provider_max = UINT16_MAX;

namespace ring_layout {

inline constexpr std::size_t word_size = sizeof(std::uint64_t);
inline constexpr std::uint64_t named_bit = std::uint64_t{1} << 56U;
inline constexpr std::size_t named_header_size = EVENTLOG_EXTENDED_HEADER_SIZE + word_size;

[[nodiscard]] inline std::uint64_t word(const std::uint8_t* at, std::size_t index = 0) noexcept {
    std::uint64_t value = 0;
    std::memcpy(&value, at + index * word_size, sizeof value);
    return value;
}

constexpr std::size_t padded_size(std::size_t size) noexcept {
    return (size + EVENTLOG_RECORD_ALIGNMENT - 1) / EVENTLOG_RECORD_ALIGNMENT *
           EVENTLOG_RECORD_ALIGNMENT;
}

constexpr unsigned kind_of(std::uint64_t head) noexcept {
    return static_cast<unsigned>(head >> EVENTLOG_KIND_SHIFT) & EVENTLOG_KIND_MASK;
}
constexpr std::size_t short_size_of(std::uint64_t head) noexcept {
    return head >> EVENTLOG_SHORT_SIZE_SHIFT & EVENTLOG_SHORT_SIZE_MAX;
}
constexpr std::size_t extended_size_of(std::uint64_t extended) noexcept {
    return extended & UINT16_MAX;
}
constexpr std::uint16_t flags_of(std::uint64_t extended) noexcept {
    return static_cast<std::uint16_t>(extended >> EVENTLOG_FLAGS_SHIFT);
}
constexpr std::size_t extension_words_of(std::uint64_t extended) noexcept {
    return extended >> EVENTLOG_EXTENSION_SHIFT & UINT8_MAX;
}
constexpr std::size_t extended_header_size(std::uint64_t extended) noexcept {
    return EVENTLOG_EXTENDED_HEADER_SIZE + extension_words_of(extended) * word_size;
}

}  // namespace ring_layout

/// The bytes that append_record adds for such a payload, padding included.
[[nodiscard]] constexpr std::size_t ring_size(std::size_t payload_size) noexcept {
    return ring_layout::padded_size(ring_layout::named_header_size + payload_size);
}
[[nodiscard]] constexpr std::size_t ring_size(const record_view& record) noexcept {
    return ring_size(record.payload.size());
}

/// The bytes that a record takes in its producer's ring, in the context of the record before it.
[[nodiscard]] constexpr std::size_t usual_ring_size(std::size_t payload_size,
                                                    std::uint16_t flags) noexcept {
    const bool is_short = flags == 0 && payload_size <= EVENTLOG_SHORT_SIZE_MAX;
    const std::size_t header =
        is_short ? EVENTLOG_SHORT_HEADER_SIZE : EVENTLOG_EXTENDED_HEADER_SIZE;
    return ring_layout::padded_size(header + payload_size);
}
[[nodiscard]] constexpr std::size_t usual_ring_size(const record_view& record) noexcept {
    return usual_ring_size(record.payload.size(), record.flags);
}

/// The valid records at the beginning of some bytes.
struct checked_records {
    std::uint64_t count = 0;
    std::size_t size = 0;        // bytes of whole, valid records
    std::size_t usual_size = 0;  // of these, by usual_ring_size
    bool damaged = false;        // what follows is not the beginning of a record
    std::uint64_t context = 0;   // behind them
};

/// Counts the whole and valid records at the beginning of untrusted bytes. `context` is that of a
/// run.
[[nodiscard]] checked_records check_records(std::span<const std::uint8_t> bytes,
                                            std::uint64_t context = 0) noexcept;

/// What untrusted bytes begin with.
struct peeked_record {
    std::size_t size = 0;       // with padding; 0: the bytes end within the header
    bool is_whole = false;      // the bytes contain all of it
    bool damaged = false;       // not the beginning of a record
    std::uint64_t context = 0;  // behind it, if it is whole
};

/// As check_records, for one record.
[[nodiscard]] peeked_record peek_record(std::span<const std::uint8_t> bytes,
                                        std::uint64_t context) noexcept;

/// The size of a run's records by usual_ring_size, whatever they have kept of their contexts.
[[nodiscard]] inline std::size_t usual_size(const record_run& run) noexcept {
    return check_records(run.bytes, run.context).usual_size;
}

/// Iterates over the records of bytes that check_records has passed with the same context. The
/// bytes and the event numbers must stay valid; payloads refer to the bytes.
class run_reader {
  public:
    run_reader() = default;
    /// `cpu` is that of the ring. Without event numbers, only records that elog has appended have
    /// known providers.
    explicit run_reader(std::span<const std::uint8_t> checked, std::uint32_t cpu = 0,
                        std::uint64_t context = 0, const event_numbers* events = nullptr) noexcept
        : begin_(checked.data()),
          at_(begin_),
          end_(begin_ + checked.size()),
          context_(context),
          events_(events),
          cpu_(static_cast<std::uint16_t>(cpu)) {}
    explicit run_reader(const record_run& run) noexcept
        : run_reader(run.bytes, run.ring, run.context, run.events) {}

    /// Decodes the next record. After the last one it returns false and does not change `record`.
    [[nodiscard]] bool next(record_view& record) noexcept {
        if (at_ == end_) {
            return false;
        }
        last_ = at_;
        const std::uint64_t head = ring_layout::word(at_);
        const unsigned kind = ring_layout::kind_of(head);
        if (kind == EVENTLOG_KIND_EXTENDED) {
            decode_extended(head, record);
            return true;
        }
        std::size_t header = EVENTLOG_SHORT_HEADER_SIZE;
        if (kind == EVENTLOG_KIND_CONTEXT) {
            header = EVENTLOG_CONTEXT_HEADER_SIZE;
            context_ = ring_layout::word(at_, 1);
        }
        const std::size_t size = ring_layout::short_size_of(head);
        decode_number(head, record);
        decode_context(head, context_, record);
        record.cpu = cpu_;
        record.flags = 0;
        record.payload = {at_ + header, size};
        at_ += ring_layout::padded_size(header + size);
        return true;
    }

    /// Whether next() has returned all records.
    [[nodiscard]] bool is_at_end() const noexcept { return at_ == end_; }
    /// Bytes of the records that next() has returned.
    [[nodiscard]] std::size_t position() const noexcept {
        return static_cast<std::size_t>(at_ - begin_);
    }
    /// The context behind the records that next() has returned.
    [[nodiscard]] std::uint64_t context() const noexcept { return context_; }

    /// Appends the record that next() has returned last, which must exist, to those of another run
    /// of the same recording, so that it needs no context there.
    void append_last_to(std::vector<std::uint8_t>& run) const;
    /// The same with another time.
    void append_last_to(std::vector<std::uint8_t>& run, std::uint64_t time) const;
    /// The same with these flags, too.
    void append_last_flagged(std::vector<std::uint8_t>& run, std::uint16_t flags) const;

  private:
    static void decode_context(std::uint64_t head, std::uint64_t context,
                               record_view& record) noexcept {
        record.thread = static_cast<std::uint32_t>(context >> EVENTLOG_THREAD_SHIFT);
        record.time = context << 32U | static_cast<std::uint32_t>(head);
    }
    void decode_number(std::uint64_t head, record_view& record) noexcept {
        const auto number = static_cast<std::uint32_t>(head >> EVENTLOG_EVENT_SHIFT);
        if (!range_.contains(number)) {
            find_range(number);
        }
        record.provider = range_.provider;
        record.event = static_cast<std::uint16_t>(number - range_.first);
    }
    void find_range(std::uint32_t number) noexcept;
    void decode_extended(std::uint64_t head, record_view& record) noexcept;

    const std::uint8_t* begin_ = nullptr;
    const std::uint8_t* last_ = nullptr;  // what next() has returned
    const std::uint8_t* at_ = nullptr;
    const std::uint8_t* end_ = nullptr;
    std::uint64_t context_ = 0;
    const event_numbers* events_ = nullptr;
    event_range range_{};  // of the last record that is not named
    std::uint16_t cpu_ = 0;
};

/// Stores a record into ring_size(record) bytes, with its provider and event. Its payload has at
/// most payload_size_max bytes.
void store_record(const record_view& record, std::uint8_t* to) noexcept;

/// Appends a record, with the limits of store_record, to those of a run.
void append_record(std::vector<std::uint8_t>& run, const record_view& record);

/// Whether a record of the run has the context before the run.
[[nodiscard]] bool needs_context(const record_run& run) noexcept;

/// The bytes that append_run adds.
[[nodiscard]] std::size_t appended_size(const record_run& run) noexcept;

/// Appends all records of a run, of the same ring and the same recording, so that they need no
/// context of earlier records.
void append_run(std::vector<std::uint8_t>& run, const record_run& appended);

/// Appends a record whose payload is built in place, at the end of the run's bytes.
class record_appender {
  public:
    /// From here on the caller appends the payload to `run`.
    explicit record_appender(std::vector<std::uint8_t>& run);

    /// Where the payload begins in the run's bytes.
    [[nodiscard]] std::size_t payload_offset() const noexcept {
        return begin_ + ring_layout::named_header_size;
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

/// The records with map(time) instead of their times. They need no context.
template <class Map>
[[nodiscard]] std::vector<std::uint8_t> map_times(run_reader records, const Map& map) {
    std::vector<std::uint8_t> mapped;
    for (record_view record; records.next(record);) {
        records.append_last_to(mapped, map(record.time));
    }
    return mapped;
}

}  // namespace elog
