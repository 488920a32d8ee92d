// SPDX-License-Identifier: MIT
#include "import/perf_order.hpp"

#include <algorithm>

namespace elog {
namespace {

constexpr std::size_t block_size = std::size_t{1} << 20U;

}  // namespace

void perf_order::add(const waiting_record& record, std::span<const std::uint8_t> body) {
    if (bytes_ + body.size() + waiting_.size() * size_of_waiting > bytes_max_ &&
        !waiting_.empty()) {
        find_places();
        const auto middle = places_.begin() + static_cast<std::ptrdiff_t>(places_.size() / 2);
        std::nth_element(places_.begin(), middle, places_.end());
        let_go(middle->first);
    }
    waiting_.push_back({record, keep(body)});
    latest_ = std::max(latest_, record.time);
}

void perf_order::finish_round() {
    let_go(complete_);
    complete_ = latest_;
}

std::span<const std::uint8_t> perf_order::keep(std::span<const std::uint8_t> body) {
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

void perf_order::give_back(std::vector<std::vector<std::uint8_t>>& blocks) {
    for (std::vector<std::uint8_t>& block : blocks) {
        if (block.capacity() == block_size) {
            block.clear();
            free_blocks_.push_back(std::move(block));
        }
    }
}

void perf_order::find_places() {
    places_.clear();
    for (const kept_record& each : waiting_) {
        places_.emplace_back(each.record.time, places_.size());
    }
}

void perf_order::let_go(std::uint64_t until) {
    find_places();
    if (!std::is_sorted(places_.begin(), places_.end())) {
        std::sort(places_.begin(), places_.end());
    }
    const auto end = std::upper_bound(places_.begin(), places_.end(), place(until, SIZE_MAX));
    std::for_each(places_.begin(), end, [&](const place& each) {
        const kept_record& kept = waiting_[each.second];
        take_(kept.record, kept.body);
    });
    before_.swap(waiting_);
    waiting_.clear();
    std::vector<std::vector<std::uint8_t>> blocks = std::exchange(blocks_, {});
    bytes_ = 0;
    std::for_each(end, places_.end(), [&](const place& each) {
        const kept_record& kept = before_[each.second];
        waiting_.push_back({kept.record, keep(kept.body)});
    });
    give_back(blocks);
}

}  // namespace elog
