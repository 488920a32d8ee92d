// SPDX-License-Identifier: MIT
//
// Events of running programs as a source, by any route.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <elog/source.hpp>

#include "capture/live_capture.hpp"
#include "memory/subscription.hpp"
#include "platform/process.hpp"
#include "source_state.hpp"

namespace elog::library {

/// Received records that have not been returned.
class live_feed final : public record_sink {
  public:
    using take_new_provider = std::function<void(const provider_instance&)>;

    explicit live_feed(take_new_provider take) : take_(std::move(take)) {}

    void start(const region_view& source) override;
    void take_clock(const eventlog_clock_sample& pair) override { clock_.add(pair); }
    void take_provider(const provider_instance& provider) override;
    void take_run(const record_run& run) override;
    void take_loss(const loss_report& loss) override { losses_.push_back(loss); }
    void advance(std::uint64_t time, std::uint64_t present) override;
    void finish() override { advance(UINT64_MAX, UINT64_MAX); }
    /// A region's first reading gives no rate of its ticks, which the limit of events per second
    /// needs.
    void calibrate_clock();

    /// The next record of those that are due since the last advance. The previous one is valid
    /// until this call.
    [[nodiscard]] std::optional<merged_record> next();
    /// After next() has returned nothing: a lower limit for the times of all further records, on
    /// the region's clock.
    [[nodiscard]] std::uint64_t watermark() const noexcept { return watermark_; }
    /// Bytes of records that next() has not returned.
    [[nodiscard]] std::uint64_t held() const noexcept { return merger_.held_bytes(); }
    /// Losses at the end, or of records that never were in a ring.
    [[nodiscard]] const std::vector<loss_report>& losses() const noexcept { return losses_; }

    /// After start().
    [[nodiscard]] std::uint32_t ring_count() const noexcept { return ring_count_; }
    [[nodiscard]] std::uint64_t clock_start() const noexcept { return clock_start_; }

    [[nodiscard]] const clock_converter& clock() const noexcept { return clock_; }
    [[nodiscard]] const provider_map& providers() const noexcept { return providers_; }

  private:
    take_new_provider take_;
    time_merger merger_{0};
    clock_converter clock_;
    provider_map providers_;
    std::vector<loss_report> losses_;
    std::uint32_t ring_count_ = 0;
    std::uint64_t clock_start_ = 0;
    std::uint64_t watermark_ = 0;
    std::uint64_t present_ = 0;
    bool has_advanced_ = false;  // and the merger has not been informed
};

class live_source final : public single_source {
  public:
    /// Throws user_error.
    live_source(recording_route route, open_options options);

    [[nodiscard]] std::optional<record> next() override;
    void wait(std::chrono::nanoseconds at_most) override;
    [[nodiscard]] bool is_over() const noexcept override { return is_over_; }
    void stop() noexcept override { stop_requested_ = true; }
    std::chrono::nanoseconds prefetch() override;
    [[nodiscard]] std::chrono::steady_clock::time_point due() override;
    [[nodiscard]] timestamp watermark() const noexcept override;
    [[nodiscard]] std::vector<std::string> complaints() const override;

  private:
    using steady_clock = std::chrono::steady_clock;

    void take_new_provider(const provider_instance& provider);
    [[nodiscard]] bool is_own(const provider_instance& provider) const noexcept;
    [[nodiscard]] std::optional<record> next_due();
    void keep_diagnostics();
    /// Polls if the interval is over.
    void poll_if_due();
    void finish();

    std::chrono::nanoseconds interval_;  // between two polls
    std::uint64_t backlog_;  // limit for the bytes held by prefetch(); next() is not limited
    bool excludes_self_;
    eventlog::core::process_identity self_ = eventlog::core::current_process();
    subscription_options wanted_;
    live_feed feed_;
    std::unique_ptr<live_capture> capture_;
    std::vector<std::string> diagnostics_;
    steady_clock::time_point next_poll_{};  // time of the next poll
    bool has_ended_ = false;
    bool has_finished_ = false;
    std::atomic<bool> stop_requested_ = false;
    std::atomic<bool> is_over_ = false;
};

}  // namespace elog::library
