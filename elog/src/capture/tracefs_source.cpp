// SPDX-License-Identifier: MIT
#include "capture/tracefs_source.hpp"

#include <algorithm>
#include <optional>
#include <thread>
#include <tuple>
#include <utility>

#include <fmt/core.h>

#include "base/user_error.hpp"
#include "format/event_format.hpp"
#include "kernel/error.hpp"
#include "tracing/kernel_trace_error.hpp"

namespace elog {
namespace {

namespace tracefs = eventlog::tracefs;

constexpr std::chrono::seconds tracefs_check_interval{1};

}  // namespace

tracefs_source::tracefs_source(const tracefs::instance_options& options)
    : instance_(convert_tracefs_errors(
          [&]() -> tracefs::instance { return tracefs::instance(options); })),
      filters_processes_(!options.pids.empty()),
      cpus_(instance_.cpu_count()),
      buffer_size_(convert_tracefs_errors([&] { return instance_.buffer_size(); })) {}

bool tracefs_source::enable_event(const kernel_trace_event& event, const std::string& condition) {
    return convert_tracefs_errors([&] {
        const bool is_asked = condition.empty() || instance_.filter(event.kernel_name, condition);
        instance_.enable(event.kernel_name);
        kept_.push_back(&event);
        return is_asked;
    });
}

bool tracefs_source::count(const counted_event& wanted) {
    return convert_tracefs_errors([&] {
        const tracefs::event_name& name = wanted.event->kernel_name;
        const auto& [asked, rest] = std::tie(wanted.pushed->asked, wanted.pushed->rest);
        // The filter first, because it can be undone.
        if (!rest.empty() && !instance_.filter(name, rest)) {
            return false;
        }
        if (!instance_.count(name, asked)) {
            static_cast<void>(instance_.filter(name, "0"));
            return false;
        }
        if (!rest.empty()) {
            instance_.enable(name);
            kept_.push_back(wanted.event);
        }
        // Last: an event that was removed meanwhile throws before this.
        counted_.push_back(wanted);
        return true;
    });
}

std::string tracefs_source::folder() const {
    return fmt::format("{}/instances/{}", tracefs::find_tracefs(), instance_.name());
}

/// Another process may have removed the histogram with its counts.
void tracefs_source::check_counting(const counted_event& each) const {
    const tracefs::event_name& name = each.event->kernel_name;
    if (!instance_.is_counted(name)) {
        throw user_error(
            "Another process has removed the histogram of {}:{} in {}, with its counts. "
            "Start again.",
            name.system, name.event, folder());
    }
}

void tracefs_source::check_enabled(const kernel_trace_event& event) const {
    const tracefs::event_name& name = event.kernel_name;
    if (!instance_.is_enabled(name)) {
        throw user_error(
            "Another process has disabled {}:{} in {}: later events are missing. Start "
            "the recording again.",
            name.system, name.event, folder());
    }
}

/// The kernel counts events that a smaller buffer has no room for as overwritten.
std::string tracefs_source::check_buffers() {
    std::string size = convert_tracefs_errors([&] { return instance_.buffer_size(); });
    if (size == buffer_size_) {
        return {};
    }
    buffer_size_ = std::move(size);
    return fmt::format("Another process has changed the size of the buffers in {}: events emitted "
                       "meanwhile are missing, and not counted.",
                       folder());
}

/// Checks for changes by other processes. They cannot remove the instance while its files are open.
std::string tracefs_source::check_setup() {
    const steady_clock::time_point now = steady_clock::now();
    if (now < check_due_) {
        return {};
    }
    check_due_ = now + tracefs_check_interval;
    convert_tracefs_errors([&] {
        instance_.check_pages();
        for (const counted_event& each : counted_) {
            check_counting(each);
        }
        for (const kernel_trace_event* const each : kept_) {
            check_enabled(*each);
        }
    });
    return check_buffers();
}

bool tracefs_source::wait(std::chrono::nanoseconds at_most) {
    std::this_thread::sleep_for(at_most);
    return false;
}

void tracefs_source::take_missed(std::uint32_t cpu, const tracefs::missed_events& missed,
                                 captured_event_handler& handler) {
    if (!missed.any) {
        return;
    }
    cpu_state& state = cpus_[cpu];
    std::uint64_t count = missed.count.value_or(0);
    state.is_uncertain = state.is_uncertain || !missed.count;
    if (state.is_uncertain) {
        // After an inexact report the kernel's total counter is used. It may be ahead of the page
        // being read, but is exact at the end.
        const std::uint64_t all =
            convert_tracefs_errors([&] { return instance_.counts_of(cpu).overrun; });
        count = missed.count ? std::min(count, all - std::min(all, state.reported))
                             : all - std::min(all, state.reported);
    }
    state.reported += count;
    handler.take_missed(cpu, count);
}

void tracefs_source::take_page(std::uint32_t cpu, captured_event_handler& handler) {
    try {
        take_missed(cpu, page_events_.load(page_), handler);
        while (const std::optional<tracefs::raw_event> event = page_events_.next()) {
            cpus_[cpu].latest = event->time;
            captured_event kept{.time = event->time, .record = event->record};
            if (const auto common = tracefs::parse_common_fields(event->record)) {
                kept.thread = common->thread;
            }
            handler.take_event(cpu, kept);
        }
    } catch (const tracefs::error& mistake) {
        handler.take_damage(cpu, mistake.what());
    }
}

void tracefs_source::take(std::uint32_t cpu, std::uint64_t until, captured_event_handler& handler) {
    while (cpus_[cpu].latest < until &&
           convert_tracefs_errors([&] { return instance_.read_page(cpu, page_); })) {
        take_page(cpu, handler);
    }
}

std::string tracefs_source::stop() {
    convert_tracefs_errors([&] {
        for (const counted_event& each : counted_) {
            // Pausing a histogram that no longer exists would create it.
            if (instance_.is_counted(each.event->kernel_name)) {
                instance_.pause(each.event->kernel_name, each.pushed->asked);
            }
        }
        instance_.stop();
        if (!counted_.empty()) {
            tracefs::wait_for_writers();
        }
    });
    return check_buffers();
}

tracefs::hist_table tracefs_source::counts_of(const counted_event& event) {
    return convert_tracefs_errors([&] {
        check_counting(event);
        return instance_.counts_of(event.event->kernel_name, event.pushed->asked);
    });
}

std::uint64_t tracefs_source::lost(std::uint32_t cpu) const {
    return convert_tracefs_errors([&] { return instance_.counts_of(cpu).lost(); });
}

}  // namespace elog
