// SPDX-License-Identifier: MIT
#include "record/rate_limiter.hpp"

namespace elog {
namespace {

constexpr std::int64_t ns_per_second = 1'000'000'000;

/// Rounds down, also for times before 0.
std::int64_t second_of(std::int64_t time) noexcept {
    return time / ns_per_second - (time % ns_per_second < 0 ? 1 : 0);
}

}  // namespace

bool rate_limiter::admits(std::int64_t time) {
    std::uint64_t& admitted = admitted_[second_of(time)];
    if (admitted == per_second_) {
        return false;
    }
    ++admitted;
    if (admitted_.size() > seconds_max) {
        admitted_.erase(admitted_.begin());
    }
    return true;
}

}  // namespace elog
