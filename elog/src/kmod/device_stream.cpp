// SPDX-License-Identifier: MIT
#include "kmod/device_stream.hpp"

#include <cstring>

#include "base/failure.hpp"

namespace elog {
namespace {

[[noreturn]] void throw_broken_stream() {
    throw failure("{} gives what is no record: it is of another version of the kernel module. Load "
                  "the one that belongs to this elog.",
                  EVENTLOG_DEVICE_PATH);
}

/// Throws failure if there is no whole record in front.
record_view first_of(std::span<const std::uint8_t> bytes) {
    eventlog_record header{};
    if (bytes.size() < sizeof header) {
        throw_broken_stream();
    }
    std::memcpy(&header, bytes.data(), sizeof header);
    if (header.size < sizeof header || header.size > EVENTLOG_RECORD_SIZE_MAX ||
        padded_size(header.size) > bytes.size()) {
        throw_broken_stream();
    }
    return {header, bytes.subspan(sizeof header, header.size - sizeof header)};
}

}  // namespace

void device_stream::take_gap(const record_view& record) {
    const std::uint32_t ring = record.header.cpu;
    eventlog_missing missing{};
    if (record.payload.size() < sizeof missing) {
        throw_broken_stream();
    }
    std::memcpy(&missing, record.payload.data(), sizeof missing);
    rings_[ring].untold.lost += missing.lost;
    rings_[ring].untold.overwritten += missing.overwritten;
    totals_[ring].lost += missing.lost;
    totals_[ring].overwritten += missing.overwritten;
}

void device_stream::hand_over(std::uint32_t ring, std::span<const std::uint8_t> bytes,
                              std::uint64_t count, const take_run& take) {
    if (count == 0) {
        return;
    }
    ring_state& state = rings_[ring];
    record_run run;
    run.ring = ring;
    run.lost_before = state.untold.lost + state.untold.overwritten;
    run.overwritten = state.untold.overwritten != 0;
    run.sequence = state.next + run.lost_before;
    run.count = count;
    run.bytes = bytes;
    state.untold = {};
    state.next = run.sequence + count;
    totals_[ring].read += count;
    totals_[ring].bytes += bytes.size();
    take(run);
}

/// A run ends where another ring begins, something is missing, or is not wanted.
void device_stream::take(std::span<const std::uint8_t> bytes, const is_wanted& wanted,
                         const take_run& take) {
    std::size_t begin = 0;
    std::size_t at = 0;
    std::uint64_t count = 0;
    std::uint32_t ring = 0;
    while (at < bytes.size()) {
        const record_view record = first_of(bytes.subspan(at));
        const std::size_t size = padded_size(record.header.size);
        if (record.header.cpu + std::size_t{1} >= rings_.size()) {
            throw_broken_stream();
        }
        const bool is_gap = record.header.provider == EVENTLOG_LOST_PROVIDER;
        const bool is_kept = !is_gap && (!wanted || wanted(record));
        if (record.header.cpu != ring || !is_kept) {
            hand_over(ring, bytes.subspan(begin, at - begin), count, take);
            ring = record.header.cpu;
            count = 0;
            begin = at;
        }
        at += size;
        if (is_kept) {
            ++count;
            continue;
        }
        begin = at;
        if (is_gap) {
            take_gap(record);
        } else {
            ++rings_[ring].left_out;
        }
    }
    hand_over(ring, bytes.subspan(begin), count, take);
}

bool device_stream::has_reached(std::uint32_t ring,
                                const eventlog_statistics& counts) const noexcept {
    const ring_totals& totals = totals_[ring];
    return totals.read + rings_[ring].left_out + totals.overwritten >= counts.recorded &&
           totals.lost >= counts.lost;
}

}  // namespace elog
