// SPDX-License-Identifier: MIT
#include "scope/known_processes.hpp"

#include <algorithm>

namespace elog {

void known_processes::forget_oldest() {
    const auto found = by_pid_.find(order_.front());
    order_.pop_front();
    has_forgotten_inside_ = has_forgotten_inside_ || found->second.front().is_inside;
    found->second.erase(found->second.begin());
    if (found->second.empty()) {
        by_pid_.erase(found);
    }
}

void known_processes::append(std::uint32_t pid, const entry& added) {
    by_pid_[pid].push_back(added);
    order_.push_back(pid);
    if (order_.size() > limit_) {
        forget_oldest();
    }
}

void known_processes::add(std::uint32_t pid, std::uint64_t start_time, bool is_inside) {
    if (const auto known = by_pid_.find(pid); known != by_pid_.end()) {
        for (entry& each : known->second) {
            if (each.is_of(start_time)) {
                each = {start_time, true, is_inside};
                return;
            }
        }
    }
    append(pid, {start_time, true, is_inside});
}

void known_processes::add_forked(std::uint32_t pid, std::uint64_t time, bool is_inside) {
    const entry added{time, false, is_inside};
    if (const auto known = by_pid_.find(pid);
        known != by_pid_.end() &&
        std::any_of(known->second.begin(), known->second.end(), [&](const entry& each) {
            return each.is_exact && added.is_of(each.start_time);
        })) {
        return;  // already known, with its exact time
    }
    append(pid, added);
}

std::optional<bool> known_processes::find(std::uint32_t pid, std::uint64_t start_time) const {
    const auto known = by_pid_.find(pid);
    if (known == by_pid_.end()) {
        return std::nullopt;
    }
    const std::vector<entry>& entries = known->second;
    const auto found = std::find_if(entries.rbegin(), entries.rend(), [&](const entry& each) {
        return start_time == 0 || each.is_of(start_time);
    });
    return found == entries.rend() ? std::nullopt : std::optional(found->is_inside);
}

}  // namespace elog
