// SPDX-License-Identifier: MIT
#include "record/ring_records.hpp"

#include <algorithm>
#include <array>

namespace elog {
namespace {

using ring_layout::padded_size;
using ring_layout::word;
using ring_layout::word_size;

void store_word(std::uint8_t* record, std::size_t index, std::uint64_t value) noexcept {
    std::memcpy(record + index * word_size, &value, sizeof value);
}

/// Words 0 and 1 of an extended record.
void store_time(std::uint8_t* record, std::uint32_t number, std::uint32_t thread,
                std::uint64_t time) noexcept {
    store_word(record, 0,
               std::uint64_t{number} << EVENTLOG_EVENT_SHIFT |
                   std::uint64_t{EVENTLOG_KIND_EXTENDED} << EVENTLOG_KIND_SHIFT |
                   static_cast<std::uint32_t>(time));
    store_word(record, 1, std::uint64_t{thread} << EVENTLOG_THREAD_SHIFT | time >> 32U);
}

/// The header of a record that names its provider. Its event number has no meaning but that it is
/// not 0.
void store_header(const record_view& head, std::size_t payload_size, std::uint8_t* to) noexcept {
    store_time(to, 1, head.thread, head.time);
    store_word(to, 2,
               ring_layout::named_bit | std::uint64_t{1} << EVENTLOG_EXTENSION_SHIFT |
                   std::uint64_t{head.cpu} << EVENTLOG_CPU_SHIFT |
                   std::uint64_t{head.flags} << EVENTLOG_FLAGS_SHIFT | payload_size);
    store_word(to, 3, std::uint64_t{head.provider} << 32U | head.event);
}

/// Header and payload of what untrusted bytes begin with.
struct record_extent {
    std::size_t header = 0;  // 0: not the beginning of a record; above the bytes: not whole
    std::size_t payload = 0;
};

record_extent extent_of_extended(std::span<const std::uint8_t> bytes) noexcept {
    if (bytes.size() < EVENTLOG_EXTENDED_HEADER_SIZE) {
        return {EVENTLOG_EXTENDED_HEADER_SIZE, 0};
    }
    const std::uint64_t extended = word(bytes.data(), 2);
    const std::uint64_t reserved = extended >> (EVENTLOG_EXTENSION_SHIFT + 8);
    const bool is_named = (extended & ring_layout::named_bit) != 0;
    const bool is_valid =
        ring_layout::short_size_of(word(bytes.data())) == 0 &&
        ring_layout::extended_size_of(extended) <= payload_size_max &&
        (is_named ? reserved == 1 && ring_layout::extension_words_of(extended) != 0
                  : reserved == 0);
    return is_valid ? record_extent{ring_layout::extended_header_size(extended),
                                    ring_layout::extended_size_of(extended)}
                    : record_extent{};
}

/// `bytes` has at least a word.
record_extent extent_of(std::span<const std::uint8_t> bytes, bool has_context) noexcept {
    const std::uint64_t head = word(bytes.data());
    if (head >> EVENTLOG_EVENT_SHIFT == 0) {
        return {};
    }
    switch (ring_layout::kind_of(head)) {
        case EVENTLOG_KIND_SHORT:
            return {has_context ? std::size_t{EVENTLOG_SHORT_HEADER_SIZE} : 0,
                    ring_layout::short_size_of(head)};
        case EVENTLOG_KIND_CONTEXT:
            return {EVENTLOG_CONTEXT_HEADER_SIZE, ring_layout::short_size_of(head)};
        case EVENTLOG_KIND_EXTENDED:
            return extent_of_extended(bytes);
        default:
            return {};
    }
}

// A named record may have a word more than the largest one of a ring.
constexpr std::size_t record_size_max = EVENTLOG_RECORD_SIZE_MAX + word_size;

constexpr std::size_t no_record = SIZE_MAX;

/// The offset of the first record, in checked bytes, that has the context before them: a short one
/// with none but extended ones in front of it.
std::size_t first_in_context(const record_run& run) noexcept {
    // Without a context the bytes would not have passed with such a record.
    std::size_t at = run.context == 0 ? run.bytes.size() : 0;
    while (at < run.bytes.size()) {
        const std::uint8_t* const record = run.bytes.data() + at;
        const unsigned kind = ring_layout::kind_of(word(record));
        if (kind != EVENTLOG_KIND_EXTENDED) {
            return kind == EVENTLOG_KIND_SHORT ? at : no_record;
        }
        const std::uint64_t extended = word(record, 2);
        at += padded_size(ring_layout::extended_header_size(extended) +
                          ring_layout::extended_size_of(extended));
    }
    return no_record;
}

}  // namespace

checked_records check_records(std::span<const std::uint8_t> bytes, std::uint64_t context) noexcept {
    checked_records found;
    found.context = context;
    while (bytes.size() - found.size >= word_size) {
        const std::span<const std::uint8_t> rest = bytes.subspan(found.size);
        const record_extent extent = extent_of(rest, found.context != 0);
        const std::size_t size = padded_size(extent.header + extent.payload);
        if (extent.header == 0 || size > record_size_max) {
            found.damaged = true;
            break;
        }
        if (size > rest.size()) {
            break;
        }
        const unsigned kind = ring_layout::kind_of(word(rest.data()));
        if (kind == EVENTLOG_KIND_CONTEXT) {
            found.context = word(rest.data(), 1);
        }
        const std::uint16_t flags =
            kind == EVENTLOG_KIND_EXTENDED ? ring_layout::flags_of(word(rest.data(), 2)) : 0;
        found.size += size;
        found.usual_size += usual_ring_size(extent.payload, flags);
        ++found.count;
    }
    return found;
}

peeked_record peek_record(std::span<const std::uint8_t> bytes, std::uint64_t context) noexcept {
    peeked_record found;
    found.context = context;
    if (bytes.size() < word_size) {
        return found;
    }
    const record_extent extent = extent_of(bytes, context != 0);
    const std::size_t size = padded_size(extent.header + extent.payload);
    if (extent.header == 0 || size > record_size_max) {
        found.damaged = true;
        return found;
    }
    if (extent.header > bytes.size()) {
        return found;
    }
    found.size = size;
    found.is_whole = size <= bytes.size();
    if (found.is_whole && ring_layout::kind_of(word(bytes.data())) == EVENTLOG_KIND_CONTEXT) {
        found.context = word(bytes.data(), 1);
    }
    return found;
}

void run_reader::find_range(std::uint32_t number) noexcept {
    range_ = events_ != nullptr ? events_->find(number) : event_range{};
    if (range_.count == 0) {
        range_ = {0, 0, unknown_provider};
    }
}

void run_reader::decode_extended(std::uint64_t head, record_view& record) noexcept {
    const std::uint64_t extended = word(at_, 2);
    const std::size_t header = ring_layout::extended_header_size(extended);
    const std::size_t size = ring_layout::extended_size_of(extended);
    if ((extended & ring_layout::named_bit) != 0) {
        const std::uint64_t named = word(at_, 3);
        record.provider = static_cast<std::uint32_t>(named >> 32U);
        record.event = static_cast<std::uint16_t>(named);
    } else {
        decode_number(head, record);
    }
    decode_context(head, word(at_, 1), record);
    record.cpu = static_cast<std::uint16_t>(extended >> EVENTLOG_CPU_SHIFT);
    record.flags = ring_layout::flags_of(extended);
    record.payload = {at_ + header, size};
    at_ += padded_size(header + size);
}

void run_reader::append_last_to(std::vector<std::uint8_t>& run) const {
    const std::uint64_t head = word(last_);
    const unsigned kind = ring_layout::kind_of(head);
    if (kind == EVENTLOG_KIND_EXTENDED) {
        run.insert(run.end(), last_, at_);
        return;
    }
    std::array<std::uint8_t, EVENTLOG_EXTENDED_HEADER_SIZE> header{};
    store_time(header.data(), static_cast<std::uint32_t>(head >> EVENTLOG_EVENT_SHIFT),
               static_cast<std::uint32_t>(context_ >> EVENTLOG_THREAD_SHIFT),
               context_ << 32U | static_cast<std::uint32_t>(head));
    store_word(header.data(), 2,
               std::uint64_t{cpu_} << EVENTLOG_CPU_SHIFT | ring_layout::short_size_of(head));
    run.insert(run.end(), header.begin(), header.end());
    run.insert(run.end(), last_ + (kind + 1) * word_size, at_);
}

void run_reader::append_last_to(std::vector<std::uint8_t>& run, std::uint64_t time) const {
    const std::size_t begin = run.size();
    append_last_to(run);
    std::uint8_t* const record = run.data() + begin;
    store_time(record, static_cast<std::uint32_t>(word(record) >> EVENTLOG_EVENT_SHIFT),
               static_cast<std::uint32_t>(word(record, 1) >> EVENTLOG_THREAD_SHIFT), time);
}

void run_reader::append_last_flagged(std::vector<std::uint8_t>& run, std::uint16_t flags) const {
    const std::size_t begin = run.size();
    append_last_to(run);
    std::uint8_t* const record = run.data() + begin;
    store_word(record, 2, word(record, 2) | std::uint64_t{flags} << EVENTLOG_FLAGS_SHIFT);
}

void store_record(const record_view& record, std::uint8_t* to) noexcept {
    // Zeros for the padding; header and payload overwrite the rest of the last word.
    std::memset(to + ring_size(record) - EVENTLOG_RECORD_ALIGNMENT, 0, EVENTLOG_RECORD_ALIGNMENT);
    store_header(record, record.payload.size(), to);
    if (!record.payload.empty()) {
        std::memcpy(to + ring_layout::named_header_size, record.payload.data(),
                    record.payload.size());
    }
}

void append_record(std::vector<std::uint8_t>& run, const record_view& record) {
    const std::size_t begin = run.size();
    run.resize(begin + ring_size(record));
    store_record(record, run.data() + begin);
}

bool needs_context(const record_run& run) noexcept {
    return first_in_context(run) != no_record;
}

std::size_t appended_size(const record_run& run) noexcept {
    return run.bytes.size() + (needs_context(run) ? word_size : 0);
}

void append_run(std::vector<std::uint8_t>& run, const record_run& appended) {
    std::span<const std::uint8_t> rest = appended.bytes;
    const std::size_t dependent = first_in_context(appended);
    if (dependent != no_record) {
        run.insert(run.end(), rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(dependent));
        rest = rest.subspan(dependent);
        std::array<std::uint8_t, EVENTLOG_CONTEXT_HEADER_SIZE> header{};
        store_word(header.data(), 0,
                   word(rest.data()) | std::uint64_t{EVENTLOG_KIND_CONTEXT} << EVENTLOG_KIND_SHIFT);
        store_word(header.data(), 1, appended.context);
        run.insert(run.end(), header.begin(), header.end());
        rest = rest.subspan(EVENTLOG_SHORT_HEADER_SIZE);
    }
    run.insert(run.end(), rest.begin(), rest.end());
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
    std::uint64_t context = rest.context;
    while (records.next(record)) {
        if (first.count != 0 && records.position() > size_max) {
            break;
        }
        size = records.position();
        context = records.context();
        ++first.count;
    }
    first.bytes = rest.bytes.first(size);
    rest.bytes = rest.bytes.subspan(size);
    rest.context = context;
    rest.count -= first.count;
    rest.sequence += first.count;
    rest.lost_before = 0;
    rest.overwritten = false;
    return first;
}

}  // namespace elog
