// SPDX-License-Identifier: MIT
//
// Whatever listens, by the route that was asked for with --via: to who shows or counts what comes
// they are all the same.
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

    /// By which events come.
    [[nodiscard]] virtual recording_route route() const noexcept = 0;

    /// Throws failure if a pattern has met no event of anybody who runs: it is most likely
    /// mistyped.
    virtual void check_patterns_before() const = 0;
    /// The same of those who have come, too, when a command has run meanwhile.
    virtual void check_patterns_after_command() const = 0;

    /// Says whose events cannot come by this route, if that is so: for a route that is not left
    /// again.
    virtual void warn_incompatible() const {}

    /// Who is there before it runs.
    [[nodiscard]] virtual std::vector<provider_instance> found() const = 0;
    /// Where it is decided which events are kept, for people.
    [[nodiscard]] virtual std::string explain() const = 0;

    /// As recording::run; once. What is to be complained about is told on standard error.
    virtual recording_summary run(
        record_sink& sink, const std::function<bool()>& stop,
        std::chrono::nanoseconds latency = recording::default_latency) = 0;

    // While it runs, so far.
    [[nodiscard]] virtual recording_summary current_summary() const = 0;
    [[nodiscard]] virtual std::uint32_t providers_refused() const = 0;
    virtual void update_losses(top_statistics& counted) const = 0;
};

/// From here on events are kept. Throws usage_error for what the route cannot do, and failure. If
/// any route will do, it is the first one by which there is all that is asked for, and memory if
/// there is none: who will come goes there in any case. `options` must outlive it. What `where`
/// does not want need not come; what the kernel counts, which it does via tracefs only, comes in no
/// other way.
[[nodiscard]] std::unique_ptr<live_recording> begin_recording(
    const requested_route& asked, const listening_arguments& arguments,
    const subscription_options& options, const std::optional<std::string>& where = {},
    const kernel_counting& counting = {});

}  // namespace elog
