// SPDX-License-Identifier: MIT
#include "live/live_recording.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/user_error.hpp"
#include "capture/live_capture.hpp"
#include "cli/complaints.hpp"
#include "cli/global_options.hpp"
#include "discovery/incompatible_processes.hpp"
#include "live/keyword_watch.hpp"
#include "live/tracing.hpp"
#include "memory/running_providers.hpp"
#include "terminal/diagnostics.hpp"

namespace elog {
namespace {

/// The patterns that set the gates of programs, the options that `asker` evaluates, and the part of
/// --where that patterns express.
std::string explain_asked(const subscription_options& options, std::string_view asker) {
    const event_patterns& gates = effective_patterns(options);
    std::string text = "gates of         ";
    for (std::size_t i = 0; i < gates.size(); ++i) {
        text += (i == 0 ? "" : ", ") + gates[i];
    }
    text += "\n";
    text += asker;
    if (!options.narrowed_by.empty()) {
        text += ",\n                 and of --where " + options.narrowed_by;
    }
    return text;
}

class memory_recording : public live_recording {
  public:
    explicit memory_recording(const subscription_options& options)
        : patterns_(options.patterns),
          asked_(explain_asked(options,
                               "programs ask     which events -e, --session, -p and --comm want")),
          capture_(options) {}

    [[nodiscard]] recording_route route() const noexcept override {
        return recording_route::memory;
    }
    void check_patterns_before() const override {
        check_keywords(patterns_, find_running_instances, keyword_advice);
        check_patterns(patterns_, capture_.patterns_matched(), {},
                       "See the events with: elog list. To wait for it, add --wait.");
    }
    void check_patterns_after_command() const override {
        check_patterns(
            patterns_, capture_.patterns_matched(), capture_.process().providers(),
            "Neither did the command while it ran. See the events with: elog list. For a "
            "program that runs as another user: elog --user USER record ...");
    }
    void warn_incompatible() const override {
        warn_incompatible_processes(capture_.source().header());
    }
    [[nodiscard]] std::vector<provider_instance> found() const override { return capture_.found(); }
    [[nodiscard]] std::string explain() const override {
        return asked_ + "\nelog asks        all of --where\n";
    }
    recording_summary run(record_sink& sink, const std::function<bool()>& stop,
                          std::chrono::nanoseconds latency) override {
        keyword_watch& watched = keywords_.emplace(patterns_, sink, find_running_instances);
        return capture_.run(
            watched,
            [&] {
                watched.poll();
                return stop();
            },
            latency);
    }
    void pause() override { capture_.process().pause(); }
    void resume() override { capture_.process().resume(); }
    [[nodiscard]] bool is_paused() const noexcept override {
        return capture_.has_begun() && capture_.process().is_paused();
    }
    [[nodiscard]] recording_summary current_summary() const override {
        return capture_.current_summary();
    }
    void update_losses(top_statistics& counted) const override {
        for (const auto& [id, provider] : capture_.process().providers()) {
            const provider_losses losses = capture_.process().losses_of(id);
            counted.update_losses(id, losses.full + losses.too_large + losses.busy);
        }
        counted.update_unattributed_losses(capture_.process().unattached());
    }

  private:
    const event_patterns& patterns_;
    std::string asked_;
    std::optional<keyword_watch> keywords_;  // set by run(): the sink of the capture
    memory_capture capture_;
};

/// Advice for a pattern without a matching event in the kernel.
struct kernel_advice {
    const char* before;  // at the beginning
    const char* behind;  // after a command
};

/// A recording whose buffers are the kernel's.
class kernel_recording : public live_recording {
  public:
    kernel_recording(const subscription_options& asked, const kernel_advice& advice,
                     std::unique_ptr<live_capture> capture)
        : patterns_(asked.patterns),
          asked_(explain_asked(asked, "the kernel asks  which events -e, --session, -p and --comm "
                                      "want, but for keywords")),
          advice_(advice),
          capture_(std::move(capture)) {}

    [[nodiscard]] recording_route route() const noexcept override { return capture_->route(); }
    void check_patterns_before() const override {
        check_keywords(
            patterns_, [this] { return found(); }, keyword_advice, schemas());
        check_all_matched(advice_.before);
    }
    void check_patterns_after_command() const override { check_all_matched(advice_.behind); }
    [[nodiscard]] std::vector<provider_instance> found() const override {
        return capture_->found();
    }
    [[nodiscard]] std::string explain() const override {
        if (const std::vector<discovered_event>* events = capture_->found_events()) {
            return elog::explain(*events);
        }
        return asked_ + "\nelog asks        keywords, and all of --where\n";
    }
    recording_summary run(record_sink& sink, const std::function<bool()>& stop,
                          std::chrono::nanoseconds latency) override {
        keyword_watch watched(patterns_, sink, find_running_instances, schemas());
        watched.add(found());  // also providers of the kernel and of other users
        recording_summary summary = capture_->run(
            watched,
            [&] {
                watched.poll();
                print_complaints(capture_->take_diagnostics());
                return stop();
            },
            latency);
        print_complaints(capture_->take_diagnostics());
        return summary;
    }
    /// Only regions of subscriptions have a state in which programs drop events.
    void pause() override {
        throw pause_error("A recording via {} cannot be paused, and goes on. Record via memory.",
                          name_of(route()));
    }
    void resume() override {}
    [[nodiscard]] bool is_paused() const noexcept override { return false; }
    [[nodiscard]] recording_summary current_summary() const override {
        return capture_->current_summary();
    }
    /// The kernel counts losses by CPU, not by provider.
    void update_losses(top_statistics& counted) const override {
        counted.update_unattributed_losses(capture_->current_summary().lost);
    }

  private:
    [[nodiscard]] without_keywords schemas() const noexcept {
        return is_traced(route()) ? without_keywords::is_unknown : without_keywords::lacks_all;
    }

    void check_all_matched(const char* advice) const {
        for (std::size_t i = 0; i < patterns_.size(); ++i) {
            if (!capture_->patterns_matched()[i]) {
                throw user_error("The kernel has no event that matches '{}'. {}", patterns_[i],
                                 advice);
            }
        }
    }

    const event_patterns& patterns_;
    std::string asked_;
    kernel_advice advice_;
    std::unique_ptr<live_capture> capture_;
};

constexpr kernel_advice advice_on_device{
    "Start its program, after the kernel module is loaded, or add --wait. See the permissions "
    "with: elog doctor",
    "The command did not register it either. See the routes with: elog doctor"};
constexpr kernel_advice advice_on_tracing{
    "Start its program, or add --wait. See the events with: ls /sys/kernel/tracing/events",
    "The command did not register it either. See the routes with: elog doctor"};

std::unique_ptr<live_recording> begin(recording_route route, bool stacks,
                                      const listening_arguments& arguments,
                                      const subscription_options& options,
                                      const std::optional<std::string>& where,
                                      const kernel_counting& counting) {
    if (route != recording_route::memory) {
        capture_request request = make_capture_request(arguments, options, where);
        request.counting = counting;
        request.stacks = stacks;
        return std::make_unique<kernel_recording>(
            options, is_traced(route) ? advice_on_tracing : advice_on_device,
            open_capture(route, request));
    }
    return std::make_unique<memory_recording>(options);
}

/// Selects the requested route, or the first one with a match for each pattern.
std::unique_ptr<live_recording> begin_by_route(const requested_route& asked,
                                               const listening_arguments& arguments,
                                               const subscription_options& options,
                                               const std::optional<std::string>& where,
                                               const kernel_counting& counting) {
    const auto report = [&](std::string_view how, recording_route route, std::string_view why) {
        if (is_verbose()) {
            print_diagnostic("elog: {} via {}: {}", how, name_of(route), why);
        }
    };
    if (asked.route) {
        report("Recording", *asked.route, "no other route was requested.");
        return begin(*asked.route, asked.stacks, arguments, options, where, counting);
    }
    for (const recording_route route : {recording_route::memory, recording_route::device,
                                        recording_route::tracefs, recording_route::perf}) {
        try {
            check_route(route, arguments);
            std::unique_ptr<live_recording> begun =
                begin(route, asked.stacks, arguments, options, where, counting);
            begun->check_patterns_before();
            report("Recording", route, "it has an event for each pattern.");
            return begun;
        } catch (const user_error& reason) {
            report("Not", route, reason.what());
        }
    }
    report("Recording", recording_route::memory, "programs that start later use it in any case.");
    return begin(recording_route::memory, asked.stacks, arguments, options, where, counting);
}

}  // namespace

std::unique_ptr<live_recording> begin_recording(const requested_route& asked,
                                                const listening_arguments& arguments,
                                                const subscription_options& options,
                                                const std::optional<std::string>& where,
                                                const kernel_counting& counting) {
    std::unique_ptr<live_recording> begun =
        begin_by_route(asked, arguments, options, where, counting);
    begun->warn_incompatible();
    return begun;
}

}  // namespace elog
