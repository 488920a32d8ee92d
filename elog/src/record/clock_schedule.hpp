// SPDX-License-Identifier: MIT
//
// Decides when a recorder reads the clocks again.
#pragma once

#include <chrono>

namespace elog {

class clock_schedule {
  public:
    /// Whether a reading is due. Returning true starts the next interval.
    [[nodiscard]] bool is_due() noexcept {
        const clock::time_point now = clock::now();
        if (now < due_) {
            return false;
        }
        // The second reading follows soon: the conversion of times needs two for a rate.
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
