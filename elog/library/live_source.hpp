// SPDX-License-Identifier: MIT
//
// A subscription of ours as a source.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <elog/source.hpp>

#include "memory/recording.hpp"
#include "memory/subscription.hpp"
#include "platform/process.hpp"
#include "source_state.hpp"

namespace elog::library {

/// What a subscription has heard and nobody has asked for yet.
class live_feed final : public record_sink {
  public:
    using take_new_provider = std::function<void(const provider_instance&)>;

    explicit live_feed(take_new_provider take) : take_(std::move(take)) {}

    void start(const region_view& source) override;
    void take_clock(const eventlog_clock_sample& pair) override { clock_.add(pair); }
    void take_provider(const provider_instance& provider) override;
    void take_run(const record_run& run) override;
    void take_loss(const loss_block& loss) override { losses_.push_back(loss); }
    void advance(std::uint64_t time, std::uint64_t present) override;
    void finish() override { advance(UINT64_MAX, UINT64_MAX); }

    /// The next record of those that are due since the last advance. Nothing but this ends the life
    /// of the one before it.
    [[nodiscard]] std::optional<merged_record> next();
    /// When next() has no more: no record that is still to come is earlier, on the region's clock.
    [[nodiscard]] std::uint64_t watermark() const noexcept { return watermark_; }
    /// Bytes of the records that next() has not given out.
    [[nodiscard]] std::uint64_t held() const noexcept { return held_bytes_; }
    /// What was lost at the end, or without having been in a ring.
    [[nodiscard]] const std::vector<loss_block>& losses() const noexcept { return losses_; }

    [[nodiscard]] const clock_converter& clock() const noexcept { return clock_; }
    [[nodiscard]] const provider_map& providers() const noexcept { return providers_; }

  private:
    take_new_provider take_;
    time_merger merger_{0};
    clock_converter clock_;
    provider_map providers_;
    std::vector<loss_block> losses_;
    std::uint64_t watermark_ = 0;
    std::uint64_t present_ = 0;
    bool has_advanced_ = false;  // and the merger does not know yet
    std::uint64_t held_bytes_ = 0;
};

class live_source final : public single_source {
  public:
    /// Throws failure.
    live_source(const std::vector<std::string>& patterns, listening_options options);

    [[nodiscard]] std::optional<record> next() override;
    void wait(std::chrono::nanoseconds at_most) override;
    [[nodiscard]] bool is_over() const noexcept override { return is_over_; }
    void stop() noexcept override { stop_requested_ = true; }
    std::chrono::nanoseconds prefetch() override;
    [[nodiscard]] timestamp watermark() const noexcept override;

  private:
    using steady_clock = std::chrono::steady_clock;

    void take_new_provider(const provider_instance& provider);
    [[nodiscard]] bool is_own(const provider_instance& provider) const noexcept;
    [[nodiscard]] std::optional<record> next_due();
    /// If it is time for that.
    void poll_if_due();
    void finish();

    std::chrono::nanoseconds interval_;  // between two looks
    std::uint64_t backlog_;              // bytes to hold at most, but for what next() takes
    bool excludes_self_;
    eventlog::core::process_identity self_ = eventlog::core::current_process();
    subscription subscription_;
    live_feed feed_;
    recording recording_;
    steady_clock::time_point next_poll_{};  // the next look
    bool has_ended_ = false;
    bool has_finished_ = false;
    std::atomic<bool> stop_requested_ = false;
    std::atomic<bool> is_over_ = false;
};

}  // namespace elog::library
