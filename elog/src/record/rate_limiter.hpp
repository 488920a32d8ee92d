// SPDX-License-Identifier: MIT
//
// Limits the number of events in each second of their own time.
//
// Seconds begin at whole seconds of the clock. In each, the first events that arrive are admitted.
// The number of admitted events therefore does not depend on the order in which rings are read,
// which a token bucket would not achieve. In one second across two of them, up to twice the rate
// may be admitted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace elog {

class rate_limiter {
  public:
    /// Seconds that are remembered. An event of an earlier second begins a new count: programs may
    /// write any time, and a wrong time must not omit events of others.
    static constexpr std::size_t seconds_max = 65'536;

    /// `per_second` is at least 1.
    explicit rate_limiter(std::uint64_t per_second) : per_second_(per_second) {}

    /// Whether an event at that time, in nanoseconds, is within the rate. Counts it if so.
    [[nodiscard]] bool admits(std::int64_t time);

  private:
    std::uint64_t per_second_;
    std::map<std::int64_t, std::uint64_t> admitted_;  // by second
};

}  // namespace elog
