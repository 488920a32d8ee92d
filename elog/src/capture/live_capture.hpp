// SPDX-License-Identifier: MIT
//
// Opens a source of live events by its route, for the command and for libelog: the common interface
// of `recording`, `device_recording` and `kernel_trace_recording`.
//
// A capture collects events from its construction on. One thread uses it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capture/kernel_trace_recording.hpp"
#include "capture/recording_route.hpp"
#include "memory/recording.hpp"
#include "memory/subscription.hpp"
#include "predicate/predicate.hpp"
#include "record/record_sink.hpp"
#include "record/recording_summary.hpp"
#include "schema/provider_schema.hpp"

namespace elog {

/// What a capture collects. Only the routes tracefs and perf use all but the subscription, whose
/// processes they cannot read from the patterns.
struct capture_request {
    const subscription_options& subscription;  // must outlive the capture
    std::vector<std::uint32_t> pids{};
    std::vector<std::string> process_names{};
    /// The kernel evaluates the part of it that it can; the caller evaluates all of it.
    std::optional<predicate> where{};
    std::int64_t reference_time = 0;  // of times without a date in `where`
    kernel_counting counting{};
    bool stacks = false;  // perf: adds the user stack to each event
};

class live_capture {
  public:
    live_capture() = default;
    live_capture(const live_capture&) = delete;
    live_capture& operator=(const live_capture&) = delete;
    virtual ~live_capture() = default;

    [[nodiscard]] virtual recording_route route() const noexcept = 0;

    /// Reads until `stop` returns true: see recording::run().
    virtual recording_summary run(record_sink& sink, const std::function<bool()>& stop,
                                  std::chrono::nanoseconds latency) = 0;

    // In place of run(), for callers with a loop of their own; not in overwrite mode. begin() is
    // the first call, end() the last one; the sink must outlive the capture.
    virtual void begin(record_sink& sink) = 0;
    /// Reads all available records and advances the sink to the time of the previous call. Throws
    /// user_error, also if another process has removed what the capture needs.
    virtual void poll() = 0;
    /// Sleeps until a buffer should be read now, or until the time is over. Returns true in the
    /// first case.
    virtual bool wait(std::chrono::nanoseconds at_most) = 0;
    /// Ends the capture and reads the rest. Throws as run() does.
    virtual recording_summary end() = 0;

    /// Diagnostics since the last call, as sentences.
    [[nodiscard]] virtual std::vector<std::string> take_diagnostics() { return {}; }
    /// For each pattern, whether a matching event existed at the start or, in the kernel, later.
    [[nodiscard]] virtual const std::vector<bool>& patterns_matched() const noexcept = 0;
    /// The providers that exist before begin() or run().
    [[nodiscard]] virtual std::vector<provider_instance> found() const = 0;
    /// Of a kernel_trace_recording, its events before begin() or run().
    [[nodiscard]] virtual const std::vector<discovered_event>* found_events() const noexcept {
        return nullptr;
    }
    /// So far, from begin() or run() on.
    [[nodiscard]] virtual recording_summary current_summary() const = 0;
};

/// Shared memory. Pauses are possible, and losses are known by provider.
class memory_capture : public live_capture {
  public:
    /// Throws user_error.
    explicit memory_capture(const subscription_options& options) : source_(options) {}

    [[nodiscard]] recording_route route() const noexcept override {
        return recording_route::memory;
    }
    recording_summary run(record_sink& sink, const std::function<bool()>& stop,
                          std::chrono::nanoseconds latency) override {
        begin(sink);
        return process_->run(stop, latency);
    }
    void begin(record_sink& sink) override { process_.emplace(source_, sink); }
    void poll() override { process_->poll(); }
    bool wait(std::chrono::nanoseconds at_most) override { return process_->wait(at_most); }
    recording_summary end() override { return process_->end(); }
    [[nodiscard]] const std::vector<bool>& patterns_matched() const noexcept override {
        return source_.patterns_matched();
    }
    [[nodiscard]] std::vector<provider_instance> found() const override;
    [[nodiscard]] recording_summary current_summary() const override {
        return process_->current_summary();
    }

    [[nodiscard]] const subscription& source() const noexcept { return source_; }
    /// From begin() or run() on.
    [[nodiscard]] recording& process() noexcept { return *process_; }
    [[nodiscard]] const recording& process() const noexcept { return *process_; }
    [[nodiscard]] bool has_begun() const noexcept { return process_.has_value(); }

  private:
    subscription source_;
    std::optional<recording> process_;
};

/// Starts to collect events. Throws user_error if the machine lacks the route, or if the route does
/// not support what is requested.
[[nodiscard]] std::unique_ptr<live_capture> open_capture(recording_route route,
                                                         const capture_request& request);

}  // namespace elog
