// SPDX-License-Identifier: MIT
//
// Limits the number of events in each second of their own time.
//
// Seconds begin at whole seconds of CLOCK_MONOTONIC. In each, the first events that arrive are
// admitted. The number of admitted events therefore does not depend on the order in which rings are
// read, which a token bucket would not achieve. In one second across two of them, up to twice the
// rate may be admitted.
//
// Programs may write any time. An event of the future counts in the present second, and one of a
// second that is no longer remembered in the oldest that is. So wrong times neither remove the
// count of a second, nor begin a second that admits more.
#pragma once

#include <cstdint>
#include <map>

namespace elog {

class rate_limiter {
  public:
    /// Returns nanoseconds of CLOCK_MONOTONIC.
    using clock = std::int64_t (*)();
    [[nodiscard]] static std::int64_t machine_time() noexcept;

    /// The present second and those before it that are remembered: 12 days.
    static constexpr std::int64_t seconds_max = 1'048'576;

    /// `per_second` is at least 1.
    explicit rate_limiter(std::uint64_t per_second, clock present = machine_time);

    /// Whether an event at that time, in nanoseconds, is within the rate. Counts it if so.
    [[nodiscard]] bool admits(std::int64_t time);

  private:
    /// Moves the window if the present second is later than it was.
    void update_present();

    std::uint64_t per_second_;
    clock present_;
    std::int64_t newest_;                             // the present second when it was last read
    std::map<std::int64_t, std::uint64_t> admitted_;  // by second; at most seconds_max
};

}  // namespace elog
