// SPDX-License-Identifier: MIT
//
// Bounds a count that programs make in shared memory, where any of them may store any value.
#pragma once

#include <cstdint>

namespace elog {

/// An event takes longer than a nanosecond of a CPU, so between two readings a count grows by at
/// most one per nanosecond and CPU. A count that grows faster, or falls, was overwritten: from then
/// on its last possible value stays.
class count_limit {
  public:
    /// The count had that value at that time (CLOCK_MONOTONIC).
    count_limit(std::uint64_t begin, std::uint64_t cpus, std::uint64_t count = 0) noexcept
        : count_(count), time_(begin), cpus_(cpus) {}

    /// Takes a reading of the count that was made between two times. False if the count was
    /// overwritten, now or before.
    bool take(std::uint64_t count, std::uint64_t before, std::uint64_t after) noexcept {
        std::uint64_t most = 0;
        const std::uint64_t elapsed = after - (time_ < after ? time_ : 0);
        const bool is_bounded = !__builtin_mul_overflow(elapsed, cpus_, &most);
        is_overwritten_ =
            is_overwritten_ || count < count_ || (is_bounded && count - count_ > most);
        if (!is_overwritten_) {
            count_ = count;
            time_ = before;
        }
        return !is_overwritten_;
    }

    /// The last possible reading.
    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

  private:
    std::uint64_t count_;
    std::uint64_t time_;
    std::uint64_t cpus_;
    bool is_overwritten_ = false;
};

}  // namespace elog
