// SPDX-License-Identifier: MIT
#include "record/rate_limiter.hpp"

#include <linux/eventlog.h>

#include <algorithm>

#include "ring/clock.hpp"

namespace elog {
namespace {

constexpr std::int64_t ns_per_second = 1'000'000'000;

/// Rounds down, also for times before 0.
std::int64_t second_of(std::int64_t time) noexcept {
    return time / ns_per_second - (time % ns_per_second < 0 ? 1 : 0);
}

}  // namespace

std::int64_t rate_limiter::machine_time() noexcept {
    return static_cast<std::int64_t>(eventlog::core::read_clock(EVENTLOG_CLOCK_MONOTONIC));
}

rate_limiter::rate_limiter(std::uint64_t per_second, clock present)
    : per_second_(per_second), present_(present), newest_(second_of(present())) {}

void rate_limiter::update_present() {
    const std::int64_t second = second_of(present_());
    if (second > newest_) {
        newest_ = second;
        admitted_.erase(admitted_.begin(), admitted_.upper_bound(newest_ - seconds_max));
    }
}

bool rate_limiter::admits(std::int64_t time) {
    const std::int64_t second = second_of(time);
    // The clock is read once for each second, and for each event of the future.
    if (second > newest_) {
        update_present();
    }
    std::uint64_t& admitted = admitted_[std::clamp(second, newest_ - seconds_max + 1, newest_)];
    if (admitted == per_second_) {
        return false;
    }
    ++admitted;
    return true;
}

}  // namespace elog
