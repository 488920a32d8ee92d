// SPDX-License-Identifier: MIT
#include "kmod/device_stream.hpp"

#include <cstring>

#include "base/user_error.hpp"
#include "record/kernel_records.hpp"
#include "record/ring_records.hpp"

namespace elog {
namespace {

[[noreturn]] void throw_invalid_stream() {
    throw user_error(
        "{} gives what is no record: it is of another version of the kernel module. Load "
        "the one that belongs to this elog.",
        EVENTLOG_DEVICE_PATH);
}

/// Throws user_error if the bytes do not begin with a whole record.
kernel_record read_first_record(std::span<const std::uint8_t> bytes) {
    const kernel_record found = peek_kernel_record(bytes);
    if (!found.is_whole) {
        throw_invalid_stream();
    }
    return found;
}

}  // namespace

void device_stream::take_gap(const record_view& record) {
    const std::uint32_t ring = record.cpu;
    eventlog_lost_payload missing{};
    if (record.payload.size() < sizeof missing) {
        throw_invalid_stream();
    }
    std::memcpy(&missing, record.payload.data(), sizeof missing);
    rings_[ring].unreported.lost += missing.lost;
    rings_[ring].unreported.overwritten += missing.overwritten;
    totals_[ring].lost += missing.lost;
    totals_[ring].overwritten += missing.overwritten;
}

void device_stream::deliver(std::uint32_t ring, const run_handler& take) {
    if (run_count_ == 0) {
        return;
    }
    ring_state& state = rings_[ring];
    record_run run;
    run.ring = ring;
    run.lost_before = state.unreported.lost + state.unreported.overwritten;
    run.overwritten = state.unreported.overwritten != 0;
    run.sequence = state.next + run.lost_before;
    run.count = run_count_;
    run.bytes = run_;
    state.unreported = {};
    state.next = run.sequence + run.count;
    totals_[ring].read += run.count;
    take(run);
    run_.clear();
    run_count_ = 0;
}

/// A run ends at a record of another ring, at a gap and at a record that is not wanted.
void device_stream::take(std::span<const std::uint8_t> bytes, const is_wanted& wanted,
                         const run_handler& take) {
    std::size_t at = 0;
    std::uint32_t ring = 0;
    while (at < bytes.size()) {
        const kernel_record found = read_first_record(bytes.subspan(at));
        const record_view& record = found.record;
        if (record.cpu + std::size_t{1} >= rings_.size()) {
            throw_invalid_stream();
        }
        const bool is_gap = record.provider == EVENTLOG_LOST_PROVIDER;
        const bool is_kept = !is_gap && (!wanted || wanted(record));
        if (record.cpu != ring || !is_kept) {
            deliver(ring, take);
            ring = record.cpu;
        }
        at += found.size;
        if (is_kept) {
            append_record(run_, record);
            ++run_count_;
            totals_[ring].bytes += found.size;
        } else if (is_gap) {
            take_gap(record);
        } else {
            ++rings_[ring].filtered_out;
        }
    }
    deliver(ring, take);
}

bool device_stream::has_read_up_to(std::uint32_t ring,
                                   const eventlog_statistics& counts) const noexcept {
    const ring_totals& totals = totals_[ring];
    return totals.read + rings_[ring].filtered_out + totals.overwritten >= counts.recorded &&
           totals.lost >= counts.lost;
}

}  // namespace elog
