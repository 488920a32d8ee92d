// SPDX-License-Identifier: MIT
#include "capture/live_capture.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/user_error.hpp"
#include "capture/program_losses.hpp"
#include "kmod/device_recording.hpp"
#include "kmod/device_subscription.hpp"
#include "kmod/relay_subscription.hpp"
#include "memory/running_providers.hpp"
#include "platform/glob.hpp"
#include "tracing/kernel_trace_condition.hpp"

namespace elog {
namespace {

std::vector<provider_instance> found_by(const device_recording& process) {
    return process.found();
}

std::vector<provider_instance> found_by(const kernel_trace_recording& process) {
    std::set<const provider_schema*> schemas;  // most schemas have several events
    std::vector<provider_instance> all;
    for (const discovered_event& each : process.found()) {
        if (schemas.insert(each.event->schema.get()).second) {
            provider_instance& added = all.emplace_back();
            added.id = static_cast<std::uint32_t>(all.size() - 1);
            added.schema = *each.event->schema;
        }
    }
    return all;
}

const std::vector<discovered_event>* events_of(const device_recording& /*process*/) noexcept {
    return nullptr;
}

const std::vector<discovered_event>* events_of(const kernel_trace_recording& process) noexcept {
    return &process.found();
}

/// Empty if all processes are wanted.
program_losses::process_filter filter_of(const capture_request& request) {
    if (request.pids.empty() && request.process_names.empty()) {
        return {};
    }
    return [pids = request.pids, names = request.process_names](std::uint32_t pid,
                                                                const std::string& name) {
        return std::find(pids.begin(), pids.end(), pid) != pids.end() ||
               std::any_of(names.begin(), names.end(), [&](const std::string& each) {
                   return eventlog::core::glob_match(each, name);
               });
    };
}

/// Buffers of the kernel: of its tracing, or of the module.
template <class Recording>
class kernel_capture : public live_capture {
  public:
    template <class... Arguments>
    explicit kernel_capture(recording_route route, const capture_request& request,
                            Arguments&&... arguments)
        : route_(route),
          losses_(request.subscription.patterns, filter_of(request)),
          process_(std::forward<Arguments>(arguments)...) {}

    [[nodiscard]] recording_route route() const noexcept override { return route_; }
    recording_summary run(record_sink& sink, const std::function<bool()>& stop,
                          std::chrono::nanoseconds latency) override {
        sink_.emplace(sink, losses_);
        return with_losses(process_.run(
            *sink_,
            [&] {
                look_for_losses();
                return stop();
            },
            latency));
    }
    void begin(record_sink& sink) override { process_.begin(sink_.emplace(sink, losses_)); }
    void poll() override {
        look_for_losses();
        process_.poll();
    }
    bool wait(std::chrono::nanoseconds at_most) override { return process_.wait(at_most); }
    recording_summary end() override { return with_losses(process_.end()); }
    [[nodiscard]] std::vector<std::string> take_diagnostics() override {
        return process_.take_diagnostics();
    }
    [[nodiscard]] const std::vector<bool>& patterns_matched() const noexcept override {
        return process_.patterns_matched();
    }
    [[nodiscard]] std::vector<provider_instance> found() const override {
        return found_by(process_);
    }
    [[nodiscard]] const std::vector<discovered_event>* found_events() const noexcept override {
        return events_of(process_);
    }
    [[nodiscard]] recording_summary current_summary() const override {
        recording_summary summary = process_.current_summary();
        losses_.add_to(summary, false);
        return summary;
    }

  private:
    /// Sinks divide a recording into several files, each of which has the losses so far.
    void look_for_losses() {
        if (losses_.look()) {
            for (const loss_report& each : losses_.reports()) {
                sink_->note_loss(each);
            }
        }
    }
    [[nodiscard]] recording_summary with_losses(recording_summary summary) const {
        losses_.add_to(summary, true);
        return summary;
    }

    recording_route route_;
    program_losses losses_;  // before the kernel begins to record
    std::optional<program_loss_sink> sink_;
    Recording process_;
};

void check_traced(const event_patterns& patterns) {
    bool has_mark = false;
    for (std::size_t i = 0; i < patterns.size(); ++i) {
        has_mark = has_mark || patterns[i].ends_with('#');
    }
    if (has_mark || !patterns.sessions().empty()) {
        throw user_error("The kernel's tracing has no sessions: select them with a predicate, or "
                         "use the route memory.");
    }
}

tracing_options tracing_options_of(recording_route route, const capture_request& request) {
    const subscription_options& asked = request.subscription;
    check_traced(asked.patterns);
    tracing_options wanted{.patterns = asked.patterns,
                           .kind = route == recording_route::perf ? tracing_kind::perf
                                                                  : tracing_kind::instance,
                           .pids = request.pids,
                           .process_names = request.process_names,
                           .buffer_size = asked.buffer_size * asked.buffers_per_cpu,
                           .overwrite = asked.overwrite,
                           .stacks = route == recording_route::perf && request.stacks,
                           .published = read_published_schemas,
                           .counting = request.counting};
    if (request.where) {
        wanted.condition = [where = *request.where,
                            now = request.reference_time](const kernel_trace_event& event) {
            return condition_for(event, where, now);
        };
    }
    return wanted;
}

}  // namespace

std::vector<provider_instance> memory_capture::found() const {
    return find_running_instances();
}

std::unique_ptr<live_capture> open_capture(recording_route route, const capture_request& request) {
    const subscription_options& options = request.subscription;
    switch (route) {
        case recording_route::device:
            return std::make_unique<kernel_capture<device_recording>>(
                route, request, options, std::make_unique<device_subscription>(options));
        case recording_route::relay:
            return std::make_unique<kernel_capture<device_recording>>(
                route, request, options, std::make_unique<relay_subscription>(options));
        case recording_route::tracefs:
        case recording_route::perf:
            return std::make_unique<kernel_capture<kernel_trace_recording>>(
                route, request, tracing_options_of(route, request));
        case recording_route::memory:
            break;
    }
    return std::make_unique<memory_capture>(options);
}

}  // namespace elog
