// SPDX-License-Identifier: MIT
#include "perf_order.hpp"

#include <algorithm>

namespace elog {

void perf_order::add(const waiting_record& record, std::span<const std::uint8_t> body) {
    if (bytes_.size() + body.size() + waiting_.size() * sizeof record > bytes_max_ &&
        !waiting_.empty()) {
        std::vector<std::uint64_t> times;
        times.reserve(waiting_.size());
        for (const waiting_record& each : waiting_) {
            times.push_back(each.time);
        }
        const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
        std::nth_element(times.begin(), middle, times.end());
        let_go(*middle);
    }
    waiting_record own = record;
    own.offset = bytes_.size();
    own.size = body.size();
    bytes_.insert(bytes_.end(), body.begin(), body.end());
    waiting_.push_back(own);
    latest_ = std::max(latest_, record.time);
}

void perf_order::finish_round() {
    let_go(complete_);
    complete_ = latest_;
}

void perf_order::let_go(std::uint64_t until) {
    std::stable_sort(waiting_.begin(), waiting_.end(),
                     [](const auto& one, const auto& other) { return one.time < other.time; });
    const auto end = std::upper_bound(
        waiting_.begin(), waiting_.end(), until,
        [](std::uint64_t time, const waiting_record& each) { return time < each.time; });
    const auto all = std::span<const std::uint8_t>(bytes_);
    for (auto each = waiting_.begin(); each != end; ++each) {
        take_(*each, all.subspan(each->offset, each->size));
    }
    waiting_.erase(waiting_.begin(), end);
    std::vector<std::uint8_t> rest;
    for (waiting_record& each : waiting_) {
        const auto body = all.subspan(each.offset, each.size);
        each.offset = rest.size();
        rest.insert(rest.end(), body.begin(), body.end());
    }
    bytes_ = std::move(rest);
}

}  // namespace elog
