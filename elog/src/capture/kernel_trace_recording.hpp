// SPDX-License-Identifier: MIT
//
// Moves the kernel's trace events to a sink: `elog record --via tracefs` or `--via perf`, from the
// first event to the last.
//
// The sink sees a subscription with one ring for each CPU. One thread uses it.
#pragma once

#include <linux/eventlog.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/user_error.hpp"
#include "capture/kernel_trace_run_builder.hpp"
#include "capture/kernel_trace_source.hpp"
#include "memory/recording_loop.hpp"
#include "platform/glob.hpp"
#include "pushdown/bpf_aggregation.hpp"
#include "pushdown/pushdown.hpp"
#include "record/record_sink.hpp"
#include "record/recording_summary.hpp"
#include "tracing/kernel_condition.hpp"
#include "tracing/kernel_trace_registry.hpp"
#include "tracing/process_cache.hpp"

namespace elog {

/// What the kernel counts instead of recording it.
struct kernel_counting {
    /// Empty: nothing is counted. The condition is whole if there is no predicate.
    std::function<pushdown_decision(const kernel_trace_event&, const kernel_condition&)> decide{};
    /// Called at the end, before the sink's finish(), for events that have occurred. The sink knows
    /// the providers. Ordered as the events were found.
    std::function<void(const std::vector<pushdown_counts>&)> take{};
    /// The same for the results of BPF programs.
    std::function<void(const std::vector<bpf_results>&)> take_bpf{};
};

enum class tracing_kind {
    instance,  // an instance below tracefs
    perf,
};

struct tracing_options {
    /// Must outlive the recording.
    const event_patterns& patterns;
    tracing_kind kind = tracing_kind::instance;
    std::vector<std::uint32_t> pids{};         // empty: all
    std::vector<std::string> process_names{};  // with * and ?; empty: all
    std::uint64_t buffer_size = 0;             // bytes for each CPU; 0: default
    bool overwrite = false;                    // nothing is read before the end
    bool stacks = false;                       // perf only: adds the user stack to each event
    kernel_trace_registry::read_published published{};
    /// Condition that the kernel checks before it records an event; empty: none.
    std::function<kernel_condition(const kernel_trace_event&)> condition{};
    kernel_counting counting{};
};

struct discovered_event {
    const kernel_trace_event* event = nullptr;  // valid while run() is not executing
    kernel_condition condition{};               // accepted by the kernel
    pushdown_decision counted{};  // what the kernel counts, or the reason why it does not
};

class kernel_trace_recording : private captured_event_handler {
  public:
    /// The kernel records from here on. Throws user_error.
    explicit kernel_trace_recording(tracing_options options);

    /// As recording::run(); may be called once. Throws user_error after the sink has been finished
    /// with what there is, also if another process has removed a part of the tracing setup.
    recording_summary run(record_sink& sink, const std::function<bool()>& stop,
                          std::chrono::nanoseconds latency);

    // In place of run(), see live_capture. Not in overwrite mode.
    void begin(record_sink& sink) { start(sink); }
    /// If another process has removed a part of the setup, throws user_error after it has read what
    /// was recorded before.
    void poll();
    bool wait(std::chrono::nanoseconds at_most) { return source_->wait(at_most); }
    recording_summary end();

    [[nodiscard]] recording_summary current_summary() const;
    /// For each pattern, whether a matching event was found.
    [[nodiscard]] const std::vector<bool>& patterns_matched() const noexcept {
        return events_.patterns_matched();
    }
    /// The events that existed at the start. Valid until begin() or run().
    [[nodiscard]] const std::vector<discovered_event>& found() const noexcept { return found_; }
    /// Diagnostics since the last call, as sentences.
    [[nodiscard]] std::vector<std::string> take_diagnostics();

  private:
    using steady_clock = std::chrono::steady_clock;

    void start(record_sink& sink);
    void find_events();
    void begin_event(const kernel_trace_event& event);
    void begin_counting(const kernel_trace_event& event, pushdown_decision& decided);
    [[nodiscard]] bool begin_histogram(const counted_event& wanted, std::string& reason);
    void take_counts(std::optional<user_error>& mistake);
    void add_diagnostic(std::string complaint);
    void check_setup();
    void drain(bool is_last);
    void take_event(std::uint32_t cpu, const captured_event& event) override;
    void take_missed(std::uint32_t cpu, std::uint64_t count) override;
    void take_damage(std::uint32_t cpu, const std::string& complaint) override;
    [[nodiscard]] bool is_wanted(const process_info& process) const;
    [[nodiscard]] recording_summary end(std::optional<user_error>& mistake);
    void report_losses();

    tracing_options options_;
    kernel_trace_registry events_;
    std::unique_ptr<kernel_trace_source> source_;
    process_cache processes_;
    eventlog_region header_{};     // of a region that does not exist
    record_sink* sink_ = nullptr;  // since begin() or run()
    bpf_aggregation by_bpf_;
    kernel_trace_run_builder records_;
    std::vector<discovered_event> found_;
    std::vector<std::string> diagnostics_;
    steady_clock::time_point begin_ = steady_clock::now();
    steady_clock::time_point discovery_due_{};
    poll_clock poll_clock_;
};

}  // namespace elog
