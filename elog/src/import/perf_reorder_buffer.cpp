// SPDX-License-Identifier: MIT
#include "import/perf_reorder_buffer.hpp"

#include <algorithm>

namespace elog {
namespace {

constexpr std::size_t block_size = std::size_t{1} << 20U;

}  // namespace

void perf_reorder_buffer::add(const pending_record& record, std::span<const std::uint8_t> body) {
    if (bytes_ + body.size() + pending_.size() * pending_record_size > bytes_max_ &&
        !pending_.empty()) {
        build_sort_keys();
        const auto middle = sort_keys_.begin() + static_cast<std::ptrdiff_t>(sort_keys_.size() / 2);
        std::nth_element(sort_keys_.begin(), middle, sort_keys_.end());
        flush_until(middle->first);
    }
    pending_.push_back({record, keep(body)});
    latest_ = std::max(latest_, record.time);
}

void perf_reorder_buffer::finish_round() {
    flush_until(watermark_);
    watermark_ = latest_;
}

std::span<const std::uint8_t> perf_reorder_buffer::keep(std::span<const std::uint8_t> body) {
    if (blocks_.empty() || blocks_.back().capacity() - blocks_.back().size() < body.size()) {
        if (body.size() > block_size || free_blocks_.empty()) {
            blocks_.emplace_back().reserve(std::max(block_size, body.size()));
        } else {
            blocks_.push_back(std::move(free_blocks_.back()));
            free_blocks_.pop_back();
        }
    }
    std::vector<std::uint8_t>& block = blocks_.back();
    const std::size_t begin = block.size();
    block.insert(block.end(), body.begin(), body.end());
    bytes_ += body.size();
    return std::span<const std::uint8_t>(block).subspan(begin);
}

void perf_reorder_buffer::recycle(std::vector<std::vector<std::uint8_t>>& blocks) {
    for (std::vector<std::uint8_t>& block : blocks) {
        if (block.capacity() == block_size) {
            block.clear();
            free_blocks_.push_back(std::move(block));
        }
    }
}

void perf_reorder_buffer::build_sort_keys() {
    sort_keys_.clear();
    for (const buffered_record& each : pending_) {
        sort_keys_.emplace_back(each.record.time, sort_keys_.size());
    }
}

void perf_reorder_buffer::flush_until(std::uint64_t until) {
    build_sort_keys();
    if (!std::is_sorted(sort_keys_.begin(), sort_keys_.end())) {
        std::sort(sort_keys_.begin(), sort_keys_.end());
    }
    const auto end =
        std::upper_bound(sort_keys_.begin(), sort_keys_.end(), sort_key(until, SIZE_MAX));
    std::for_each(sort_keys_.begin(), end, [&](const sort_key& each) {
        const buffered_record& kept = pending_[each.second];
        take_(kept.record, kept.body);
    });
    before_.swap(pending_);
    pending_.clear();
    std::vector<std::vector<std::uint8_t>> blocks = std::exchange(blocks_, {});
    bytes_ = 0;
    std::for_each(end, sort_keys_.end(), [&](const sort_key& each) {
        const buffered_record& kept = before_[each.second];
        pending_.push_back({kept.record, keep(kept.body)});
    });
    recycle(blocks);
}

}  // namespace elog
