// SPDX-License-Identifier: MIT
#include "perf_order.hpp"

#include <algorithm>

namespace elog {
namespace {

constexpr std::size_t block_size = std::size_t{1} << 20U;

}  // namespace

void perf_order::add(const waiting_record& record, std::span<const std::uint8_t> body) {
    if (bytes_ + body.size() + waiting_.size() * size_of_waiting > bytes_max_ &&
        !waiting_.empty()) {
        std::vector<place> all = places();
        const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
        std::nth_element(all.begin(), middle, all.end());
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
        blocks_.emplace_back().reserve(std::max(block_size, body.size()));
    }
    std::vector<std::uint8_t>& block = blocks_.back();
    const std::size_t begin = block.size();
    block.insert(block.end(), body.begin(), body.end());
    bytes_ += body.size();
    return std::span<const std::uint8_t>(block).subspan(begin);
}

std::vector<perf_order::place> perf_order::places() const {
    std::vector<place> all;
    all.reserve(waiting_.size());
    for (const kept_record& each : waiting_) {
        all.emplace_back(each.record.time, all.size());
    }
    return all;
}

void perf_order::let_go(std::uint64_t until) {
    std::vector<place> all = places();
    if (!std::is_sorted(all.begin(), all.end())) {
        std::sort(all.begin(), all.end());
    }
    const auto end = std::upper_bound(all.begin(), all.end(), place(until, SIZE_MAX));
    std::for_each(all.begin(), end, [&](const place& each) {
        const kept_record& kept = waiting_[each.second];
        take_(kept.record, kept.body);
    });
    const std::deque<kept_record> before = std::exchange(waiting_, {});
    const std::vector<std::vector<std::uint8_t>> blocks = std::exchange(blocks_, {});
    bytes_ = 0;
    std::for_each(end, all.end(), [&](const place& each) {
        const kept_record& kept = before[each.second];
        waiting_.push_back({kept.record, keep(kept.body)});
    });
}

}  // namespace elog
