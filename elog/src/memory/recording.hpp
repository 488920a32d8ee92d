// SPDX-License-Identifier: MIT
//
// Moves records, providers, clock readings and losses from a subscription's region to a sink.
//
// The sink must outlive it. One thread uses it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "base/user_error.hpp"
#include "memory/recording_loop.hpp"
#include "memory/region_reader.hpp"
#include "memory/shared_ring_ahead.hpp"
#include "memory/subscription.hpp"
#include "memory/unattached_losses.hpp"
#include "record/clock_schedule.hpp"
#include "record/record_sink.hpp"
#include "record/recording_summary.hpp"
#include "ring/clock.hpp"

namespace elog {

/// A pause or resume that is not possible. The recording goes on as it was.
class pause_error : public user_error {
  public:
    using user_error::user_error;
};

class recording {
  public:
    static constexpr std::chrono::milliseconds default_latency{10};

    /// Interval between polls that bounds how long records are held back: a record that becomes
    /// visible right after one poll is released by the second poll after it.
    [[nodiscard]] static std::chrono::nanoseconds poll_interval_of(
        std::chrono::nanoseconds latency) noexcept {
        return std::max<std::chrono::nanoseconds>(latency / 2, std::chrono::microseconds(100));
    }

    /// Returns the time of a clock that a region may have.
    using clock_reader = std::uint64_t (*)(std::uint32_t clock) noexcept;

    /// The first form is for a subscription of this process. The second is for a region that
    /// another process owns; only snapshot() may be called on it. `unattached`: the losses of
    /// programs that are in no region.
    recording(subscription& source, record_sink& sink,
              clock_reader reader = eventlog::core::read_clock);
    recording(const region_view& source, record_sink& sink,
              std::optional<unattached_losses> unattached = {});

    /// Reads until `stop` returns true (it is called at least every 10 ms), then ends the
    /// subscription and reads the rest. Records are released within the latency. In overwrite mode
    /// the buffers are read once, at the end, and hold the newest records. Throws user_error or
    /// output_closed. If the machine has slept and the region's clock was reset, or if the
    /// subscription's file was removed, the recording ends: the sink is finished with what came
    /// before, then user_error is thrown.
    recording_summary run(const std::function<bool()>& stop,
                          std::chrono::nanoseconds latency = default_latency);

    // In place of run(), for callers with a loop of their own; not in overwrite mode.
    /// Reads all available records and advances the sink to the time of the previous call. Throws
    /// user_error, also if the region's clock has been reset or its file was removed.
    void poll();
    /// Sleeps until a buffer that should be read now has been switched, or until the time is over.
    /// Returns true in the first case.
    bool wait(std::chrono::nanoseconds at_most) { return reader_.wait(at_most); }
    /// Ends the subscription and reads the rest. Throws as run() does.
    recording_summary end();

    // While it runs: programs drop events, without a loss, from pause() to resume(). The sink gets
    // their times. Both throw as poll() does; resume() throws pause_error if it has to be repeated.
    void pause();
    void resume();
    [[nodiscard]] bool is_paused() const noexcept { return is_paused_; }

    /// Reads the buffers, and the log of pauses, once and changes nothing in the region. Throws
    /// user_error or output_closed.
    recording_summary snapshot();

    [[nodiscard]] const provider_map& providers() const noexcept { return providers_; }

    // While it runs: the counts so far.
    /// Losses are those that the applications have counted.
    [[nodiscard]] recording_summary current_summary() const;
    [[nodiscard]] provider_losses losses_of(std::uint32_t provider) const {
        return reader_.losses_of(provider);
    }
    /// Events that programs have lost before they attached, as of the last second.
    [[nodiscard]] std::uint64_t unattached() const;

  private:
    void take_new_providers();
    [[nodiscard]] std::uint64_t read_clock() noexcept;
    void take_run(const record_run& run);
    void take_logged_pauses(std::uint64_t now);
    void drain();
    void note_losses();
    [[nodiscard]] std::vector<loss_report> provider_reports();
    [[nodiscard]] std::vector<ring_totals> rings() const;
    [[nodiscard]] recording_summary finish();
    void report_losses();
    void note_uncounted_losses(recording_summary& summary) const;

    subscription* own_ = nullptr;
    region_view source_;
    record_sink& sink_;
    region_reader reader_;
    provider_map providers_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    poll_clock poll_clock_;
    clock_schedule loss_schedule_;
    shared_ring_ahead shared_ring_;
    std::optional<unattached_losses> unattached_;
    // Of the reports of providers that had not attached when they were first reported.
    std::map<unattached_losses::key, std::uint32_t> other_numbers_;
    clock_reader clock_reader_ = eventlog::core::read_clock;
    std::uint64_t latest_ = 0;  // the largest value read
    std::uint64_t pauses_ = 0;
    bool is_paused_ = false;
    bool clock_was_reset_ =
        false;  // from then on no record is passed on and the next member counts them
    std::vector<ring_totals> skipped_ = std::vector<ring_totals>(source_.geometry.ring_count);
};

}  // namespace elog
