// SPDX-License-Identifier: MIT
#include "collect/merged_rings.hpp"

#include <algorithm>

#include "ring/clock.hpp"

namespace eventlog::core {
namespace {

bool has_custom_time(const ring_record& record) noexcept {
    return (record.flags & EVENTLOG_RECORD_CUSTOM_TIME) != 0;
}

}  // namespace

eventlog_ring* merged_rings::ring(std::size_t index) const noexcept {
    return reinterpret_cast<eventlog_ring*>(
        region_ + geometry_.ring_offset(static_cast<std::uint32_t>(index)));
}

eventlog_buffer* merged_rings::descriptor(std::size_t index,
                                          std::uint64_t generation) const noexcept {
    return descriptors_of(ring(index)) + (generation & (geometry_.buffer_count - 1));
}

void merged_rings::look() noexcept {
    const auto* const header = reinterpret_cast<const eventlog_region*>(region_);
    latest_ = read_clock_ordered(header->clock);
    for (std::size_t i = 0; i < cursors_.size(); ++i) {
        cursors_[i].visible = {shared(ring(i)->control).load(std::memory_order_acquire)};
        if (!cursors_[i].has_head) {
            find_head(i);
        }
    }
}

void merged_rings::find_head(std::size_t index) noexcept {
    ring_cursor& at = cursors_[index];
    while (true) {
        const bool is_active =
            at.visible.generation() == (at.generation & EVENTLOG_GENERATION_MASK);
        eventlog_buffer* const buffer = descriptor(index, at.generation);
        const control_word filled =
            is_active && !at.visible.is_sealed()
                ? at.visible
                : control_word{shared(buffer->sealed).load(std::memory_order_relaxed)};
        const std::uint64_t end = std::min<std::uint64_t>(filled.position(), geometry_.buffer_size);
        if (at.offset < end) {
            const unsigned char* const begin =
                region_ + geometry_.buffer_offset(static_cast<std::uint32_t>(index), at.generation);
            at.has_head = read_record({begin + at.offset, end - at.offset},
                                      static_cast<std::uint16_t>(index), at.context, at.head);
            if (at.has_head) {
                return;
            }
            // The rest of the buffer cannot be separated.
            const std::uint64_t missing = filled.count() - std::min(filled.count(), at.records);
            damaged_ += missing;
            at.records += missing;
            at.total += missing;
            at.offset = end;
        }
        if (is_active) {
            return;
        }
        ++at.generation;
        at.offset = 0;
        at.context = 0;
        at.records = 0;
        // Release: the reading of the buffer is over when a writer finds the new value.
        shared(ring(index)->drained).store(at.generation, std::memory_order_release);
    }
}

std::uint64_t merged_rings::sort_time(const ring_record& record) const noexcept {
    return has_custom_time(record) ? std::min(record.time, latest_) : record.time;
}

bool merged_rings::select() noexcept {
    selected_ = SIZE_MAX;
    for (std::size_t i = 0; i < cursors_.size(); ++i) {
        const ring_cursor& at = cursors_[i];
        if (at.has_head && sort_time(at.head) <= latest_ &&
            (selected_ == SIZE_MAX || sort_time(at.head) < sort_time(cursors_[selected_].head))) {
            selected_ = i;
        }
    }
    return selected_ != SIZE_MAX;
}

const ring_record* merged_rings::peek() noexcept {
    if (selected_ == SIZE_MAX && !select()) {
        look();
        static_cast<void>(select());
    }
    return selected_ == SIZE_MAX ? nullptr : &cursors_[selected_].head;
}

std::uint64_t merged_rings::lost_before() const noexcept {
    const ring_cursor& at = cursors_[selected_];
    const std::uint64_t lost =
        shared(descriptor(selected_, at.generation)->lost_before).load(std::memory_order_relaxed);
    return lost - std::min(lost, at.lost_reported);
}

void merged_rings::pop() noexcept {
    ring_cursor& at = cursors_[selected_];
    at.lost_reported += lost_before();
    at.offset += at.head.size;
    ++at.records;
    ++at.total;
    at.has_head = false;
    find_head(selected_);
    selected_ = SIZE_MAX;
}

std::uint64_t merged_rings::unread() const noexcept {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < cursors_.size(); ++i) {
        const ring_cursor& at = cursors_[i];
        // From the buffer that is being read to the active one, whose descriptors are complete.
        const control_word control{shared(ring(i)->control).load(std::memory_order_acquire)};
        std::uint64_t active = at.generation;
        while ((active & EVENTLOG_GENERATION_MASK) != control.generation() &&
               active - at.generation < geometry_.buffer_count) {
            ++active;
        }
        const std::uint64_t recorded =
            shared(descriptor(i, active)->records_before).load(std::memory_order_relaxed) +
            control.count();
        sum += recorded - std::min(recorded, at.total);
    }
    return sum;
}

std::uint64_t merged_rings::lost() const noexcept {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < cursors_.size(); ++i) {
        sum += shared(ring(i)->lost).load(std::memory_order_relaxed);
    }
    return sum;
}

}  // namespace eventlog::core
