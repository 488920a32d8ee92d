// SPDX-License-Identifier: MIT
#include "file/index_builder.hpp"

#include <algorithm>
#include <cstring>

#include "base/crc32c.hpp"
#include "base/test_override.hpp"

namespace elog {
namespace {

std::int64_t offset_of(const clock_reading& clock) noexcept {
    return static_cast<std::int64_t>(clock.realtime - clock.monotonic);
}

}  // namespace

std::uint32_t index_checksum(std::span<const std::uint8_t> head) noexcept {
    return crc32c(head.subspan(offsetof(index_block, previous)));
}

std::uint64_t index_interval() {
    // The lower limit is the size of index_interval_blocks of the smallest blocks, for which an
    // index is due anyway.
    return test_override("EVENTLOG_TEST_INDEX_BYTES", index_interval_bytes,
                         index_interval_blocks * sizeof(block_header), index_interval_bytes);
}

void index_builder::add(const block_header& header) {
    if (entries_.empty()) {
        begin_section();
        head_.first_number = header.number;
    }
    index_entry entry{};
    entry.size = header.size;
    entry.type = header.type;
    entry.flags = header.flags;
    entries_.push_back(entry);
    bytes_ += block_size_in_file(header.size);
    const bool is_needed = is_metadata(static_cast<block_type>(header.type)) ||
                           (header.type & block_type_required) != 0;
    head_.others += is_needed ? 1U : 0U;
}

void index_builder::add(const block_header& header, const records_block& records) {
    add(header);
    index_entry& entry = entries_.back();
    entry.segment = records.segment;
    entry.ring = records.ring;
    entry.count = static_cast<std::uint32_t>(records.count);
    entry.earliest = records.earliest;
    entry.latest = records.latest;
    head_.records += records.count;
    head_.lost += records.lost_before;
    head_.earliest = std::min(head_.earliest, records.earliest);
    head_.latest = std::max(head_.latest, records.latest);
}

void index_builder::add(const block_header& header, const clock_reading& clock) {
    add(header);
    if (head_.clocks == 0) {
        head_.first_clock = clock;
    }
    ++head_.clocks;
    if (!has_clock_) {
        head_.offset_min = offset_of(clock);
        head_.offset_max = offset_of(clock);
    }
    has_clock_ = true;
    last_clock_ = clock;
    head_.last_clock = clock;
    head_.offset_min = std::min(head_.offset_min, offset_of(clock));
    head_.offset_max = std::max(head_.offset_max, offset_of(clock));
}

void index_builder::begin_section() noexcept {
    head_ = {};
    head_.head_size = sizeof head_;
    head_.earliest = UINT64_MAX;
    head_.first_clock = last_clock_;
    head_.last_clock = last_clock_;
    if (has_clock_) {
        head_.offset_min = offset_of(last_clock_);
        head_.offset_max = head_.offset_min;
    }
    bytes_ = 0;
}

std::vector<std::uint8_t> index_builder::payload(std::uint64_t offset) {
    head_.head_size = sizeof head_;  // a damaged file may have no entries
    head_.previous = previous_;
    head_.start = offset - bytes_;
    head_.entries = static_cast<std::uint32_t>(entries_.size());
    head_.checksum = index_checksum({reinterpret_cast<const std::uint8_t*>(&head_), sizeof head_});
    std::vector<std::uint8_t> payload(sizeof head_ + entries_.size() * sizeof(index_entry));
    std::memcpy(payload.data(), &head_, sizeof head_);
    if (!entries_.empty()) {  // a damaged file may have no entries, and data() may be null then
        std::memcpy(payload.data() + sizeof head_, entries_.data(),
                    entries_.size() * sizeof(index_entry));
    }
    return payload;
}

void index_builder::begin_section_after(std::uint64_t offset) noexcept {
    entries_.clear();
    bytes_ = 0;
    previous_ = offset;
}

}  // namespace elog
