// SPDX-License-Identifier: MIT
//
// When the clocks are read again, while records come.
#pragma once

#include <chrono>

namespace elog {

class clock_schedule {
  public:
    /// Whether it is time, which then is over until the next time.
    [[nodiscard]] bool is_due() noexcept {
        const clock::time_point now = clock::now();
        if (now < due_) {
            return false;
        }
        // The second reading comes soon: without it there is no rate to convert times with.
        due_ = now + (due_ == clock::time_point{} ? first_interval : interval);
        return true;
    }

  private:
    using clock = std::chrono::steady_clock;
    static constexpr std::chrono::milliseconds first_interval{10};
    static constexpr std::chrono::milliseconds interval{1000};

    clock::time_point due_{};
};

}  // namespace elog
