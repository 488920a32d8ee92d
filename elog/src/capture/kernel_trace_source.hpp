// SPDX-License-Identifier: MIT
//
// Interface to a facility of the kernel that records trace events by CPU: an instance of tracefs,
// or perf.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/hist_table.hpp"
#include "pushdown/pushdown.hpp"
#include "tracing/kernel_trace_registry.hpp"

namespace elog {

struct captured_event {
    std::uint64_t time = 0;                  // on CLOCK_MONOTONIC
    std::uint32_t thread = 0;                // the emitting thread
    std::uint32_t process = 0;               // 0: unknown
    std::span<const std::uint8_t> record{};  // in the layout of the event's format
    std::string_view stack{};                // see stack_symbolizer.hpp; empty: unknown
};

/// Receives what the kernel has recorded.
class captured_event_handler {
  public:
    captured_event_handler() = default;
    captured_event_handler(const captured_event_handler&) = delete;
    captured_event_handler& operator=(const captured_event_handler&) = delete;
    virtual ~captured_event_handler() = default;

    virtual void take_event(std::uint32_t cpu, const captured_event& event) = 0;
    /// `count` records are missing in front of the next one.
    virtual void take_missed(std::uint32_t cpu, std::uint64_t count) = 0;
    /// Invalid data was found; the sentence states the consequence.
    virtual void take_damage(std::uint32_t cpu, const std::string& complaint) = 0;
};

class kernel_trace_source {
  public:
    kernel_trace_source() = default;
    kernel_trace_source(const kernel_trace_source&) = delete;
    kernel_trace_source& operator=(const kernel_trace_source&) = delete;
    virtual ~kernel_trace_source() = default;

    /// One more than the highest possible CPU.
    [[nodiscard]] virtual std::uint32_t cpu_count() const = 0;
    /// Whether processes that are not wanted are left out, except for threads that exited before
    /// their process could be found.
    [[nodiscard]] virtual bool filters_processes() const = 0;

    /// Records the event from here on, if it meets the condition, which is in the language of the
    /// kernel's filters; empty: none. Returns false if the kernel refuses the condition: then all
    /// of the event's records are kept. Throws user_error; kernel_trace_event_gone if the event no
    /// longer exists.
    virtual bool enable_event(const kernel_trace_event& event, const std::string& condition) = 0;

    /// Instead of enable_event(): counts the event's records in a histogram and records the rest.
    /// Returns false, with nothing changed, if that is not possible. Throws user_error.
    virtual bool count(const counted_event& /*wanted*/) { return false; }
    /// The counted events in the order of the calls of count().
    [[nodiscard]] virtual std::vector<counted_event> counted() const { return {}; }

    /// Checks repeatedly that the setup is unchanged. Returns a sentence if records are missing
    /// that are not counted, or an empty string. Throws user_error.
    [[nodiscard]] virtual std::string check_setup() = 0;

    /// Sleeps at most this long, less if a buffer is nearly full. Returns whether one is.
    virtual bool wait(std::chrono::nanoseconds at_most) = 0;

    /// Passes on what has been recorded on a CPU, at least up to that time. Throws user_error.
    virtual void take(std::uint32_t cpu, std::uint64_t until, captured_event_handler& handler) = 0;

    /// Stops recording. Returns what check_setup() would. Throws user_error.
    [[nodiscard]] virtual std::string stop() = 0;

    /// Number of lost events. Exact once the source has been stopped and all events have been
    /// taken. Throws user_error.
    [[nodiscard]] virtual std::uint64_t lost(std::uint32_t cpu) const = 0;

    /// The histogram of a counted event, after stop(). Throws user_error, also if another process
    /// has removed the histogram.
    [[nodiscard]] virtual eventlog::tracefs::hist_table counts_of(const counted_event& /*event*/) {
        return {};
    }

    /// The kernel's saved name of a process that has exited or, if it saves names by thread, of a
    /// thread; empty: unknown.
    [[nodiscard]] virtual std::string exited_process_name(std::uint32_t process) = 0;
};

}  // namespace elog
