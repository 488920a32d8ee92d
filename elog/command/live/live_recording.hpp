// SPDX-License-Identifier: MIT
//
// The common interface of live recordings by all routes of --via.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capture/kernel_trace_recording.hpp"
#include "live/listening.hpp"
#include "live/recording_route.hpp"
#include "memory/recording.hpp"
#include "memory/subscription.hpp"
#include "schema/provider_schema.hpp"
#include "top/top_statistics.hpp"

namespace elog {

class live_recording {
  public:
    live_recording() = default;
    live_recording(const live_recording&) = delete;
    live_recording& operator=(const live_recording&) = delete;
    virtual ~live_recording() = default;

    /// The route of its events.
    [[nodiscard]] virtual recording_route route() const noexcept = 0;

    /// Throws user_error if a pattern matches no event of a running program: it is most likely
    /// mistyped.
    virtual void check_patterns_before() const = 0;
    /// The same after a command has run, including the programs that have started meanwhile.
    virtual void check_patterns_after_command() const = 0;

    /// Warns of programs whose events this route cannot deliver. Called once the route is final.
    virtual void warn_incompatible() const {}

    /// The providers that exist before run().
    [[nodiscard]] virtual std::vector<provider_instance> found() const = 0;
    /// Text that explains where each part of the selection is evaluated.
    [[nodiscard]] virtual std::string explain() const = 0;

    /// Runs like recording::run, once. Complaints are written to standard error.
    virtual recording_summary run(
        record_sink& sink, const std::function<bool()>& stop,
        std::chrono::nanoseconds latency = recording::default_latency) = 0;

    // For callers inside run(): events between the two are neither recorded nor lost. Both throw
    // pause_error if that is not possible, other exceptions as run() does, and do nothing twice.
    virtual void pause() = 0;
    virtual void resume() = 0;
    [[nodiscard]] virtual bool is_paused() const noexcept = 0;

    // State so far, for callers inside run().
    [[nodiscard]] virtual recording_summary current_summary() const = 0;
    virtual void update_losses(top_statistics& counted) const = 0;
};

/// Starts to collect events. Throws usage_error for an option that the route does not support, and
/// user_error.
///
/// If any route is allowed, uses the first one that has a match for each pattern, and memory if
/// there is none, because programs that start later reach it in any case. `options` has to outlive
/// the recording. Events for which `where` is false may be left out. Events that the kernel counts
/// (`counting`), possible via tracefs and perf, are not delivered.
[[nodiscard]] std::unique_ptr<live_recording> begin_recording(
    const requested_route& asked, const listening_arguments& arguments,
    const subscription_options& options, const std::optional<std::string>& where = {},
    const kernel_counting& counting = {});

}  // namespace elog
