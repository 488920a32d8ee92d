// SPDX-License-Identifier: MIT
//
// Common parts of the recordings from memory, the kernel module and the kernel's tracing: the poll
// loop, the progress of the sink's clock, and the totals. One thread uses them.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "record/clock_schedule.hpp"
#include "record/record_sink.hpp"
#include "record/recording_summary.hpp"
#include "ring/clock.hpp"

namespace elog {

/// Calls drain() every `interval`, and earlier when wait(at_most) returns true, until stop()
/// returns true. stop() and the sink's check() are called at least every 10 ms. With `overwrites`
/// drain() is not called.
template <class Stop, class Drain, class Wait>
void poll_until(const Stop& stop, record_sink& sink, std::chrono::nanoseconds interval,
                bool overwrites, const Drain& drain, const Wait& wait) {
    using std::chrono::steady_clock;
    constexpr std::chrono::nanoseconds stop_interval = std::chrono::milliseconds(10);
    steady_clock::time_point due = steady_clock::now();
    bool is_pressing = false;
    while (!stop()) {
        sink.check();
        if (!overwrites && (is_pressing || steady_clock::now() >= due)) {
            due = steady_clock::now() + interval;
            drain();
        }
        const std::chrono::nanoseconds left =
            overwrites ? stop_interval : due - steady_clock::now();
        is_pressing = wait(std::clamp<std::chrono::nanoseconds>(left, {}, stop_interval));
    }
}

/// Advances a sink after each poll.
class poll_clock {
  public:
    /// `before` and `present` are readings of the clock before and after the poll.
    void advance(record_sink& sink, std::uint32_t clock, std::uint64_t before,
                 std::uint64_t present) {
        if (schedule_.is_due()) {
            sink.take_clock(eventlog::core::read_clock_sample(clock));
        }
        // A writer reads the clock shortly before its record becomes visible. Records with times
        // up to the poll before this one have all been visible by now.
        sink.advance(last_poll_, present);
        last_poll_ = before;
    }

  private:
    clock_schedule schedule_;
    std::uint64_t last_poll_ = 0;
};

/// The sums over all rings.
[[nodiscard]] inline recording_summary summary_of(std::vector<ring_totals> rings) {
    recording_summary summary;
    for (const ring_totals& ring : rings) {
        summary.events += ring.read;
        summary.bytes += ring.bytes;
        summary.full += ring.lost;
        summary.overwritten += ring.overwritten;
        summary.damaged += ring.damaged;
    }
    summary.lost = summary.full + summary.damaged;
    summary.rings = std::move(rings);
    return summary;
}

}  // namespace elog
