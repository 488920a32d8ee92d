// SPDX-License-Identifier: MIT
//
// What has the kernel keep trace events for a recording, by CPU, and gives them out: an instance of
// the kernel's tracing, or perf.
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
    std::uint32_t thread = 0;                // that it is of
    std::uint32_t process = 0;               // 0: the kernel does not say
    std::span<const std::uint8_t> record{};  // as the event's format describes it
    std::string_view stack{};                // see stack_symbolizer.hpp; empty: not known
};

/// Who is given what the kernel has kept.
class captured_event_handler {
  public:
    captured_event_handler() = default;
    captured_event_handler(const captured_event_handler&) = delete;
    captured_event_handler& operator=(const captured_event_handler&) = delete;
    virtual ~captured_event_handler() = default;

    virtual void take_event(std::uint32_t cpu, const captured_event& event) = 0;
    /// So many are missing in front of the next one.
    virtual void take_missed(std::uint32_t cpu, std::uint64_t count) = 0;
    /// Something there made no sense; the sentence says what became of it.
    virtual void take_damage(std::uint32_t cpu, const std::string& complaint) = 0;
};

class kernel_trace_source {
  public:
    kernel_trace_source() = default;
    kernel_trace_source(const kernel_trace_source&) = delete;
    kernel_trace_source& operator=(const kernel_trace_source&) = delete;
    virtual ~kernel_trace_source() = default;

    /// Above the highest CPU that may ever be there.
    [[nodiscard]] virtual std::uint32_t cpu_count() const = 0;
    /// Whether it keeps nothing of processes that are not wanted, but for what their threads do
    /// that have ended before one can find out whose they were.
    [[nodiscard]] virtual bool filters_processes() const = 0;

    /// From here on the event is kept, if it meets the condition, in the words of the kernel's
    /// filters; an empty one is none. Returns false if the kernel refuses the condition: then all
    /// of its events are kept. Throws failure: kernel_trace_event_gone if there is no such event
    /// any more.
    virtual bool enable_event(const kernel_trace_event& event, const std::string& condition) = 0;

    /// In place of listen: from here on the kernel counts the event's records in a histogram of its
    /// own, and keeps the rest of them. Returns false if it cannot: then nothing has changed.
    /// Throws failure.
    virtual bool count(const counted_event& /*wanted*/) { return false; }
    /// Those, in the order in which they were asked for.
    [[nodiscard]] virtual std::vector<counted_event> counted() const { return {}; }

    /// Whether all is still as we have made it, which is asked again and again. Returns a sentence
    /// if something is missing that is not counted, or nothing. Throws failure.
    [[nodiscard]] virtual std::string check_setup() = 0;

    /// Sleeps, for less time if there is room for only few events more. Returns whether that is so.
    virtual bool wait(std::chrono::nanoseconds at_most) = 0;

    /// Gives out what there is of a CPU, at least up to that time. Throws failure.
    virtual void take(std::uint32_t cpu, std::uint64_t until, captured_event_handler& handler) = 0;

    /// Nothing is kept any more. Returns what check_setup would. Throws failure.
    [[nodiscard]] virtual std::string stop() = 0;

    /// How many events that should be kept have not been given out, and will not be: once it has
    /// been stopped and all has been taken, exactly. Throws failure.
    [[nodiscard]] virtual std::uint64_t lost(std::uint32_t cpu) const = 0;

    /// What has been counted of one of them until it was stopped. Throws failure, also if somebody
    /// else has taken that away.
    [[nodiscard]] virtual eventlog::tracefs::hist_table counts_of(const counted_event& /*event*/) {
        return {};
    }

    /// What the kernel called a process that has ended, or, where it does not say whose a thread
    /// was, that thread; empty: it does not remember.
    [[nodiscard]] virtual std::string exited_process_name(std::uint32_t process) = 0;
};

}  // namespace elog
