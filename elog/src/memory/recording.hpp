// SPDX-License-Identifier: MIT
//
// Moves records from a subscription to a sink.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "memory/region_reader.hpp"
#include "memory/subscription.hpp"
#include "record/clock_schedule.hpp"
#include "record/record_sink.hpp"
#include "record/recording_summary.hpp"
#include "ring/clock.hpp"

namespace elog {

class recording {
  public:
    static constexpr std::chrono::milliseconds default_latency{10};

    /// How often to look, so that nothing is kept for longer: what comes right behind a look is let
    /// out by the look after the next one.
    [[nodiscard]] static std::chrono::nanoseconds poll_interval_of(
        std::chrono::nanoseconds latency) noexcept {
        return std::max<std::chrono::nanoseconds>(latency / 2, std::chrono::microseconds(100));
    }

    /// Says what a clock of a region shows.
    using clock_reader = std::uint64_t (*)(std::uint32_t clock) noexcept;

    /// Of a subscription of ours, or of one that others own: then there is only snapshot.
    recording(subscription& source, record_sink& sink,
              clock_reader reader = eventlog::core::read_clock);
    recording(const region_view& source, record_sink& sink);

    /// Reads until `stop`, asked at least every 10 ms, says so; then ends the subscription and
    /// takes what is left. What comes is let out within the latency. In overwrite mode it reads
    /// only then: what the buffers hold, the newest. Throws failure or output_closed. When the
    /// machine has slept and the region's clock begun anew, it ends, too: the sink is finished with
    /// what came before, then failure is thrown.
    recording_summary run(const std::function<bool()>& stop,
                          std::chrono::nanoseconds latency = default_latency);

    // In place of run(), for who has a loop of its own; not in overwrite mode.
    /// Takes what there is. The sink is told how far that goes: up to the call before. Throws
    /// failure, also whenever the region's clock has begun anew.
    void poll();
    /// Sleeps until a buffer has been switched, which is to be read before its time, or the time is
    /// over. Returns whether it is the former.
    bool wait(std::chrono::nanoseconds at_most) { return reader_.wait(at_most); }
    /// Ends the subscription and takes what is left. Throws as run() does.
    recording_summary end();

    /// Takes what the buffers hold, once, and changes nothing. Throws failure or output_closed.
    recording_summary snapshot();

    [[nodiscard]] const provider_map& providers() const noexcept { return providers_; }

    // While it runs, so far.
    /// Losses are those that the programs have counted.
    [[nodiscard]] recording_summary current_summary() const;
    [[nodiscard]] provider_losses losses_of(std::uint16_t provider) const {
        return reader_.losses_of(provider);
    }
    [[nodiscard]] std::uint32_t providers_refused() const { return reader_.providers_refused(); }

  private:
    void take_new_providers();
    [[nodiscard]] std::uint64_t read_clock() noexcept;
    void take_run(const record_run& run);
    void drain();
    [[nodiscard]] std::vector<ring_totals> rings() const;
    [[nodiscard]] std::vector<lossy_provider> lossy_providers() const;
    [[nodiscard]] recording_summary finish();
    void report_losses();

    subscription* own_ = nullptr;
    region_view source_;
    record_sink& sink_;
    region_reader reader_;
    provider_map providers_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    clock_schedule clock_schedule_;
    std::uint64_t last_poll_ = 0;  // on the region's clock
    clock_reader clock_reader_ = eventlog::core::read_clock;
    std::uint64_t latest_ = 0;      // that it has shown
    bool clock_was_reset_ = false;  // since then nothing is handed over:
    std::vector<ring_totals> skipped_ = std::vector<ring_totals>(source_.geometry.ring_count);
};

}  // namespace elog
