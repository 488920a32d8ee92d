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
#include "pushdown/pushed_event.hpp"
#include "tracing/traced_events.hpp"

namespace elog {

struct kept_event {
    std::uint64_t time = 0;                  // on CLOCK_MONOTONIC
    std::uint32_t thread = 0;                // that it is of
    std::uint32_t process = 0;               // 0: the kernel does not say
    std::span<const std::uint8_t> record{};  // as the event's format describes it
    std::string_view stack{};                // see stack_texts.hpp; empty: not known
};

/// Who is given what the kernel has kept.
class kept_taker {
  public:
    kept_taker() = default;
    kept_taker(const kept_taker&) = delete;
    kept_taker& operator=(const kept_taker&) = delete;
    virtual ~kept_taker() = default;

    virtual void take_event(std::uint32_t cpu, const kept_event& event) = 0;
    /// So many are missing in front of the next one.
    virtual void take_missed(std::uint32_t cpu, std::uint64_t count) = 0;
    /// Something there made no sense; the sentence says what became of it.
    virtual void take_damage(std::uint32_t cpu, const std::string& complaint) = 0;
};

class traced_source {
  public:
    traced_source() = default;
    traced_source(const traced_source&) = delete;
    traced_source& operator=(const traced_source&) = delete;
    virtual ~traced_source() = default;

    /// Above the highest CPU that may ever be there.
    [[nodiscard]] virtual std::uint32_t cpu_count() const = 0;
    /// Whether it keeps nothing of processes that are not wanted, but for what their threads do
    /// that have ended before one can find out whose they were.
    [[nodiscard]] virtual bool picks_processes() const = 0;

    /// From here on the event is kept, if it meets the condition, in the words of the kernel's
    /// filters; an empty one is none. Returns false if the kernel refuses the condition: then all
    /// of its events are kept. Throws failure: traced_event_gone if there is no such event any
    /// more.
    virtual bool listen(const traced_event& event, const std::string& condition) = 0;

    /// In place of listen: from here on the kernel counts the event's records in a histogram of its
    /// own, and keeps the rest of them. Returns false if it cannot: then nothing has changed.
    /// Throws failure.
    virtual bool count(const counted_event& /*wanted*/) { return false; }
    /// Those, in the order in which they were asked for.
    [[nodiscard]] virtual std::vector<counted_event> counted() const { return {}; }

    /// Whether all is still as we have made it, which is asked again and again. Returns a sentence
    /// if something is missing that is not counted, or nothing. Throws failure.
    [[nodiscard]] virtual std::string look_around() = 0;

    /// Sleeps, for less time if there is room for only few events more. Returns whether that is so.
    virtual bool wait(std::chrono::nanoseconds at_most) = 0;

    /// Gives out what there is of a CPU, at least up to that time. Throws failure.
    virtual void take(std::uint32_t cpu, std::uint64_t until, kept_taker& taker) = 0;

    /// Nothing is kept any more. Returns what look_around would. Throws failure.
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
    [[nodiscard]] virtual std::string name_of_ended(std::uint32_t process) = 0;
};

}  // namespace elog
