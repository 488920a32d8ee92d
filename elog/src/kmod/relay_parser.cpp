// SPDX-License-Identifier: MIT
#include "kmod/relay_parser.hpp"

#include <linux/eventlog_device.h>

#include <cstring>

#include "base/user_error.hpp"
#include "kmod/stream_marker.hpp"
#include "record/ring_records.hpp"

namespace elog {
namespace {

// A marker replaces a header in place.
static_assert(sizeof(run_marker_bytes) == sizeof(eventlog_relay_header));

[[noreturn]] void throw_broken_buffer(std::uint32_t cpu) {
    throw user_error(
        "The relay channel's buffer of CPU {} does not hold what it should: it is of "
        "another version of the kernel module. Load the one that belongs to this elog.",
        cpu);
}

/// Whether the header belongs to a sub-buffer that has ended.
bool is_ended(const eventlog_relay_header& header) noexcept {
    return header.used != 0;
}

}  // namespace

void relay_parser::check_header(const eventlog_relay_header& header) const {
    const bool is_first = current_.magic == 0;
    const bool is_good = header.cpu == cpu_ && header.used <= subbuf_size_ &&
                         header.used % EVENTLOG_RECORD_ALIGNMENT == 0 &&
                         (!is_ended(header) || header.used >= sizeof header) &&
                         (is_first || header.sequence > current_.sequence) &&
                         header.records_before >= recorded_ && header.lost_before >= lost_;
    if (!is_good) {
        throw_broken_buffer(cpu_);
    }
}

void relay_parser::take_header(std::span<std::uint8_t> bytes) {
    eventlog_relay_header header{};
    std::memcpy(&header, bytes.data(), sizeof header);
    check_header(header);
    eventlog_run run{};
    run.ring = cpu_;
    run.lost = header.lost_before - lost_;
    run.overwritten = header.records_before - recorded_;
    const run_marker_bytes marker = make_run_marker(run);
    std::memcpy(bytes.data(), marker.data(), marker.size());
    lost_ = header.lost_before;
    recorded_ = header.records_before;
    current_ = header;
    used_ = sizeof header;
    records_ = 0;
    context_ = 0;  // a sub-buffer can be read alone
}

/// A sub-buffer may hold less than its header announces, because the channel may have been reset.
bool relay_parser::has_room_for(std::size_t size) const noexcept {
    if (current_.magic == 0) {
        return false;
    }
    return is_ended(current_) ? size <= current_.used - used_ && records_ < current_.records
                              : size <= subbuf_size_ - used_;
}

/// Returns the record's size with padding, or 0 if it is incomplete.
std::size_t relay_parser::take_record(std::span<const std::uint8_t> bytes) {
    const peeked_record found = peek_record(bytes, context_);
    if (found.damaged || (found.size != 0 && !has_room_for(found.size))) {
        throw_broken_buffer(cpu_);
    }
    if (!found.is_whole) {
        return 0;
    }
    context_ = found.context;
    used_ += static_cast<std::uint32_t>(found.size);
    ++records_;
    ++recorded_;
    return found.size;
}

std::size_t relay_parser::rewrite(std::span<std::uint8_t> bytes) {
    std::size_t at = 0;
    while (bytes.size() - at >= ring_layout::word_size) {
        const std::span<std::uint8_t> rest = bytes.subspan(at);
        const bool is_header = ring_layout::word(rest.data()) == EVENTLOG_RELAY_MAGIC;
        std::size_t size = 0;
        if (!is_header) {
            size = take_record(rest);
        } else if (rest.size() >= sizeof(eventlog_relay_header)) {
            take_header(rest);
            size = sizeof(eventlog_relay_header);
        }
        if (size == 0) {
            break;
        }
        at += size;
    }
    return at;
}

}  // namespace elog
