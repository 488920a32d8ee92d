// SPDX-License-Identifier: MIT
//
// From the kernel's trace events to a sink: what `elog record --via tracefs`, or perf, does between
// its first event and its last. To the sink it looks like a subscription, with a ring for each CPU.
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

#include "base/failure.hpp"
#include "capture/traced_records.hpp"
#include "capture/traced_source.hpp"
#include "platform/glob.hpp"
#include "pushdown/bpf_counting.hpp"
#include "pushdown/pushed_event.hpp"
#include "record/clock_schedule.hpp"
#include "record/record_sink.hpp"
#include "record/recording_summary.hpp"
#include "tracing/kernel_condition.hpp"
#include "tracing/traced_events.hpp"
#include "tracing/traced_processes.hpp"

namespace elog {

/// What the kernel is to count in place of keeping it.
struct kernel_counting {
    /// Empty: nothing. The condition is whole if there is no predicate.
    std::function<push_decision(const traced_event&, const kernel_condition&)> decide{};
    /// At the end, before the sink's, of events that have come. The providers are ones that the
    /// sink has been told of, in the order in which the events were found.
    std::function<void(const std::vector<pushed_counts>&)> take{};
    /// The same of what BPF programs have counted.
    std::function<void(const std::vector<bpf_counts>&)> take_bpf{};
};

enum class tracing_kind {
    instance,  // of the kernel's tracing, below tracefs
    perf,
};

struct tracing_options {
    /// Must outlive the recording.
    const event_patterns& patterns;
    tracing_kind kind = tracing_kind::instance;
    std::vector<std::uint32_t> pids{};         // empty: all
    std::vector<std::string> process_names{};  // with * and ?; empty: all
    std::uint64_t buffer_size = 0;             // bytes of each CPU; 0: as much as suits
    bool overwrite = false;                    // nothing is read before the end
    bool stacks = false;  // of perf alone: with each event, where its program was
    traced_events::read_published published{};
    /// What the kernel is to ask of an event before it keeps it; none: nothing.
    std::function<kernel_condition(const traced_event&)> condition{};
    kernel_counting counting{};
};

struct found_event {
    const traced_event* event = nullptr;  // of the recording, as long as it does not run
    kernel_condition condition{};         // that the kernel has taken
    push_decision counted{};              // what the kernel counts, or why it does not
};

class traced_recording : private kept_taker {
  public:
    /// From here on the kernel keeps events. Throws failure.
    explicit traced_recording(tracing_options options);

    /// As that of recording; once. Throws failure, after the sink has been given what there is,
    /// also if somebody has taken a part of it away.
    recording_summary run(record_sink& sink, const std::function<bool()>& stop,
                          std::chrono::nanoseconds latency);

    [[nodiscard]] recording_summary so_far() const;
    /// For each pattern, whether there has been an event for it.
    [[nodiscard]] const std::vector<bool>& patterns_met() const noexcept {
        return events_.patterns_met();
    }
    /// The events that were there at the beginning.
    [[nodiscard]] const std::vector<found_event>& found() const noexcept { return found_; }
    /// Sentences, since the last call.
    [[nodiscard]] std::vector<std::string> take_complaints();

  private:
    using steady_clock = std::chrono::steady_clock;

    void start(record_sink& sink);
    void find_events();
    void begin(const traced_event& event);
    void begin_counting(const traced_event& event, push_decision& decided);
    [[nodiscard]] bool begin_histogram(const counted_event& wanted, std::string& reason);
    void take_counts(std::optional<failure>& mistake);
    void complain(std::string complaint);
    void look_around();
    [[nodiscard]] bool wait_until(steady_clock::time_point due);
    void take_all(bool is_last);
    void take_event(std::uint32_t cpu, const kept_event& event) override;
    void take_missed(std::uint32_t cpu, std::uint64_t count) override;
    void take_damage(std::uint32_t cpu, const std::string& complaint) override;
    [[nodiscard]] bool is_wanted(const traced_process& process) const;
    [[nodiscard]] recording_summary end(std::optional<failure>& mistake);
    void report_losses();
    [[nodiscard]] recording_summary sum_up() const;

    tracing_options options_;
    traced_events events_;
    std::unique_ptr<traced_source> source_;
    traced_processes processes_;
    eventlog_region header_{};     // of a region that there is not
    record_sink* sink_ = nullptr;  // while it runs
    bpf_counting by_bpf_;
    traced_records records_;
    std::vector<found_event> found_;
    std::vector<std::string> complaints_;
    steady_clock::time_point begin_ = steady_clock::now();
    clock_schedule clock_schedule_;
    steady_clock::time_point look_due_{};
    std::uint64_t last_poll_ = 0;
};

}  // namespace elog
