// SPDX-License-Identifier: MIT
//
// The begin or the end of a pause of a recording, shown between its records.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

namespace elog {

enum class mark_kind : std::uint8_t { pause, resume };

/// Between a pause and its resume, events are neither recorded nor lost. Outside of these times all
/// are one of the two; shortly before and behind them some are recorded.
struct recording_mark {
    std::uint64_t time = 0;    // on the region's clock
    std::uint64_t number = 0;  // of the pause in its recording, from 1
    mark_kind kind = mark_kind::pause;

    [[nodiscard]] bool operator==(const recording_mark&) const = default;
    [[nodiscard]] bool operator<(const recording_mark& other) const noexcept {
        return std::tie(time, number, kind) < std::tie(other.time, other.number, other.kind);
    }
};

/// Marks that wait for the records before them.
class pending_marks {
  public:
    /// In any order. One that is earlier than others that were passed comes next.
    void add(const recording_mark& mark) {
        is_sorted_ = is_sorted_ && (marks_.empty() || marks_.back() < mark);
        marks_.push_back(mark);
    }

    /// Passes the marks up to that time, in order; equal ones once.
    template <class Take>
    void take_until(std::uint64_t time, const Take& take) {
        sort();
        while (next_ != marks_.size() && marks_[next_].time <= time) {
            take(marks_[next_++]);
        }
        if (next_ == marks_.size()) {
            marks_.clear();
            next_ = 0;
        }
    }

  private:
    void sort() {
        if (!is_sorted_) {
            marks_.erase(marks_.begin(), marks_.begin() + static_cast<std::ptrdiff_t>(next_));
            next_ = 0;
            std::sort(marks_.begin(), marks_.end());
            marks_.erase(std::unique(marks_.begin(), marks_.end()), marks_.end());
            is_sorted_ = true;
        }
    }

    std::vector<recording_mark> marks_;
    std::size_t next_ = 0;
    bool is_sorted_ = true;
};

}  // namespace elog
