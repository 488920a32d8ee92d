// SPDX-License-Identifier: MIT
#include "capture/kernel_trace_recording.hpp"

#include <algorithm>
#include <optional>
#include <tuple>

#include "capture/perf_source.hpp"
#include "capture/tracefs_source.hpp"
#include "format/event_format.hpp"
#include "memory/recording.hpp"
#include "record/snapshot_clock.hpp"
#include "ring/clock.hpp"
#include "tracing/kernel_trace_error.hpp"

namespace elog {
namespace {

namespace core = eventlog::core;
namespace tracefs = eventlog::tracefs;

constexpr std::uint32_t kernel_trace_clock =
    EVENTLOG_CLOCK_MONOTONIC;  // of every kernel_trace_source
// How soon an event is found whose program has just started.
constexpr std::chrono::milliseconds kernel_trace_check_interval{100};

tracefs::instance_options instance_options_of(const tracing_options& options) {
    tracefs::instance_options wanted;
    if (options.buffer_size != 0) {
        wanted.buffer_size = options.buffer_size;
    }
    if (options.process_names.empty()) {
        wanted.pids = options.pids;
    }
    return wanted;
}

std::unique_ptr<kernel_trace_source> make_source(const tracing_options& options) {
    if (options.kind == tracing_kind::instance) {
        return std::make_unique<tracefs_source>(instance_options_of(options));
    }
    tracefs::perf_options wanted;
    if (options.buffer_size != 0) {
        wanted.buffer_size = options.buffer_size;
    }
    wanted.overwrite = options.overwrite;
    wanted.stacks = options.stacks;
    return std::make_unique<perf_source>(wanted);
}

}  // namespace

kernel_trace_recording::kernel_trace_recording(tracing_options options)
    : options_(std::move(options)),
      events_(options_.patterns, options_.published),
      source_(make_source(options_)),
      processes_([this](std::uint32_t process) { return source_->exited_process_name(process); }),
      records_(source_->cpu_count(), options_.overwrite) {
    if (options_.stacks) {
        events_.add_stacks();
    }
    find_events();
}

void kernel_trace_recording::start(record_sink& sink) {
    sink_ = &sink;
    records_.start(sink);
    // Sinks use only the clock and the number of rings of a region.
    const core::unique_fd no_file;
    header_.clock = kernel_trace_clock;
    header_.ring_count = source_->cpu_count() + 1;
    header_.clock_start = core::read_clock_sample(kernel_trace_clock);
    core::region_geometry geometry;
    geometry.ring_count = header_.ring_count;
    sink_->start({no_file, header_, geometry});
    if (!options_.overwrite) {
        sink_->take_clock(header_.clock_start);
    }
    begin_ = steady_clock::now();
}

/// Lets the kernel count the event in a histogram and record the rest. Returns false, with the
/// reason, if it cannot.
bool kernel_trace_recording::begin_histogram(const counted_event& wanted, std::string& reason) {
    reason = capacity_reason(source_->counted(), *wanted.pushed);
    if (!reason.empty()) {
        return false;
    }
    if (!source_->count(wanted)) {
        reason =
            "this kernel has no histograms (CONFIG_HIST_TRIGGERS), refuses this one, or has no "
            "memory for it";
        return false;
    }
    return true;
}

/// Tries a histogram that counts all records, then a BPF program, then a histogram that counts a
/// part. At return `decided` states what the kernel does.
void kernel_trace_recording::begin_counting(const kernel_trace_event& event,
                                            pushdown_decision& decided) {
    if (decided.pushed && options_.kind == tracing_kind::perf) {
        decided.pushed = nullptr;
        decided.reason = "perf has no histograms";
    }
    const auto by_histogram = [&] {
        return decided.pushed && begin_histogram({&event, decided.pushed}, decided.reason);
    };
    const bool is_whole = decided.pushed && decided.pushed->rest.empty();
    if (is_whole && by_histogram()) {
        decided.by_bpf = {};
        return;
    }
    if (decided.by_bpf.plan) {
        decided.by_bpf.reason = by_bpf_.begin(event, decided.by_bpf.plan);
        if (decided.by_bpf.reason.empty()) {
            decided.pushed = nullptr;
            return;
        }
        decided.by_bpf.plan = nullptr;
    }
    if (is_whole || !by_histogram()) {
        decided.pushed = nullptr;
    }
}

/// A condition that the kernel refuses is replaced by none: all of the event's records are kept.
void kernel_trace_recording::begin_event(const kernel_trace_event& event) {
    kernel_condition condition;
    condition.is_whole = true;
    if (options_.condition) {
        condition = options_.condition(event);
    }
    pushdown_decision decided;
    if (options_.counting.decide) {
        decided = options_.counting.decide(event, condition);
        begin_counting(event, decided);
    }
    const bool is_counted = decided.pushed || decided.by_bpf.plan;
    if (!is_counted && !source_->enable_event(event, condition.text)) {
        condition = {};
    }
    if (sink_ == nullptr) {
        found_.push_back({&event, std::move(condition), std::move(decided)});
    }
}

/// Each step is tried; the first error is kept in `mistake`, unless there is one already.
void kernel_trace_recording::take_counts(std::optional<user_error>& mistake) {
    const auto attempt = [&](const auto& step) {
        try {
            step();
        } catch (const user_error& error) {
            mistake = mistake ? mistake : std::optional(error);
        }
    };
    // The counted records of all processes are added to one provider.
    const process_info any_process{0, 0, 0, "?"};
    std::vector<pushdown_counts> all;
    for (const counted_event& each : source_->counted()) {
        attempt([&] {
            tracefs::hist_table table = source_->counts_of(each);
            // An event without records stays unknown to the sink, as without pushdown.
            if ((table.hits | table.dropped) != 0) {
                all.push_back(
                    {records_.provider_of(*each.event, any_process), each, std::move(table)});
            }
        });
    }
    if (!all.empty()) {
        attempt([&] { options_.counting.take(all); });
    }
    const std::vector<bpf_results> by_bpf = by_bpf_.take(
        [&](const kernel_trace_event& event) { return records_.provider_of(event, any_process); },
        mistake);
    if (!by_bpf.empty()) {
        attempt([&] { options_.counting.take_bpf(by_bpf); });
    }
}

void kernel_trace_recording::find_events() {
    for (const kernel_trace_event* event :
         convert_tracefs_errors([&] { return events_.discover(); })) {
        try {
            begin_event(*event);
        } catch (const kernel_trace_event_gone&) {  // its program has exited
            events_.forget(event->format.id);
        }
    }
    for (std::string& complaint : events_.take_diagnostics()) {
        diagnostics_.push_back(std::move(complaint));
    }
    discovery_due_ = steady_clock::now() + kernel_trace_check_interval;
}

std::vector<std::string> kernel_trace_recording::take_diagnostics() {
    return std::exchange(diagnostics_, {});
}

void kernel_trace_recording::add_diagnostic(std::string complaint) {
    if (!complaint.empty()) {
        diagnostics_.push_back(std::move(complaint));
    }
}

void kernel_trace_recording::check_setup() {
    add_diagnostic(source_->check_setup());
    if (steady_clock::now() >= discovery_due_) {
        find_events();
    }
}

/// As in a subscription: a process that matches one of the two lists is included.
bool kernel_trace_recording::is_wanted(const process_info& process) const {
    const auto& [pids, names] = std::tie(options_.pids, options_.process_names);
    if (pids.empty() && names.empty()) {
        return true;
    }
    // The kernel filters by threads. The process of a thread that has exited cannot be checked.
    const bool is_picked = source_->filters_processes() && process.start_time == 0;
    return is_picked || std::find(pids.begin(), pids.end(), process.pid) != pids.end() ||
           std::any_of(names.begin(), names.end(),
                       [&](const auto& one) { return core::glob_match(one, process.name); });
}

void kernel_trace_recording::take_event(std::uint32_t cpu, const captured_event& event) {
    const std::optional<tracefs::common_fields> common = tracefs::parse_common_fields(event.record);
    if (!common) {
        records_.count_damaged(cpu);
        return;
    }
    const kernel_trace_event* const known = events_.find(common->event);
    if (known == nullptr) {
        return;  // another process has enabled events in this instance
    }
    const process_info& process = processes_.of(event.thread, event.process);
    if (is_wanted(process)) {
        records_.take(
            cpu, *known, process,
            {event.time, event.thread, static_cast<std::uint16_t>(cpu), event.record, event.stack});
    }
}

void kernel_trace_recording::take_missed(std::uint32_t cpu, std::uint64_t count) {
    records_.lose(cpu, count);
}

void kernel_trace_recording::take_damage(std::uint32_t cpu, const std::string& complaint) {
    records_.count_damaged(cpu);
    diagnostics_.push_back(complaint);
}

void kernel_trace_recording::drain(bool is_last) {
    const std::uint64_t now = core::read_clock(kernel_trace_clock);
    for (std::uint32_t cpu = 0; cpu < source_->cpu_count(); ++cpu) {
        source_->take(cpu, is_last ? UINT64_MAX : now, *this);
        records_.deliver(cpu);
    }
    poll_clock_.advance(*sink_, kernel_trace_clock, now, core::read_clock(kernel_trace_clock));
}

recording_summary kernel_trace_recording::current_summary() const {
    std::vector<ring_totals> rings;
    for (std::uint32_t cpu = 0; cpu < source_->cpu_count(); ++cpu) {
        rings.push_back(records_.totals(cpu));
    }
    rings.emplace_back();  // ring without a CPU
    recording_summary summary = summary_of(std::move(rings));
    summary.elapsed = steady_clock::now() - begin_;
    return summary;
}

/// Reports the losses behind the last records: what the kernel has counted and not reported before.
void kernel_trace_recording::report_losses() {
    for (std::uint32_t cpu = 0; cpu < source_->cpu_count(); ++cpu) {
        const std::uint64_t all = source_->lost(cpu);
        records_.lose(cpu, all - std::min(all, records_.lost(cpu)));
    }
    records_.finish();
}

recording_summary kernel_trace_recording::run(record_sink& sink, const std::function<bool()>& stop,
                                              std::chrono::nanoseconds latency) {
    start(sink);
    std::optional<user_error> mistake;
    const auto is_over = [&] {
        if (stop()) {
            return true;
        }
        try {
            check_setup();
        } catch (const user_error& error) {
            mistake = error;  // what was recorded before is complete
        }
        return mistake.has_value();
    };
    poll_until(
        is_over, sink, recording::poll_interval_of(latency), options_.overwrite,
        [&] { drain(false); },
        [&](std::chrono::nanoseconds at_most) { return source_->wait(at_most); });
    recording_summary summary = end(mistake);
    if (mistake) {
        throw user_error(*mistake);
    }
    return summary;
}

void kernel_trace_recording::poll() {
    drain(false);
    check_setup();
}

recording_summary kernel_trace_recording::end() {
    std::optional<user_error> mistake;
    recording_summary summary = end(mistake);
    if (mistake) {
        throw user_error(*mistake);
    }
    return summary;
}

recording_summary kernel_trace_recording::end(std::optional<user_error>& mistake) {
    add_diagnostic(source_->stop());
    by_bpf_.stop();
    if (options_.overwrite) {
        sink_->take_clock(extrapolate_start_reading(header_));
    }
    drain(true);
    sink_->take_clock(core::read_clock_sample(kernel_trace_clock));
    report_losses();
    take_counts(mistake);
    recording_summary summary = current_summary();
    sink_->finish();
    return summary;
}

}  // namespace elog
