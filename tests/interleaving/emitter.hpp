// SPDX-License-Identifier: MIT
//
// The process that is interrupted: it emits what it is told, one event at a time.
//
// Everything in an event follows from its number and its size, so that a record that is torn, or
// another's, gives itself away.
#pragma once

#include <linux/eventlog.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "listener.hpp"

namespace eventlog::test {

/// Events of two providers, which have nothing in common but their subscriptions.
enum class event_kind : std::uint32_t {
    small,           // a few words and one text
    block,           // words only
    filler,          // takes room
    other_provider,  // brief, of the other provider
};
inline constexpr const char* all_events = "stepped*:*";
// Both providers still have something to say to these.
inline constexpr const char* all_but_small = "stepped*:*o*";
inline constexpr const char* all_but_block = "stepped*:*r*";

/// A filler's record has so many bytes more than its data.
inline constexpr std::size_t filler_overhead = sizeof(eventlog_record) + 12;
inline constexpr std::size_t text_size_max = 1000;

/// Names an event: the kind is in it.
[[nodiscard]] std::uint64_t number_of(event_kind kind, std::uint64_t serial);

/// Emits it. `size` is the text's, or a filler's data's.
void emit(event_kind kind, std::uint64_t number, std::size_t size) noexcept;

/// The number of a record that is whole and what it says; fails the test and returns nothing if it
/// is not.
[[nodiscard]] std::optional<std::uint64_t> number_in(const event_listener& listener,
                                                     const received_record& record);

/// What a signal handler emits, in this order.
struct handler_events {
    std::uint64_t small;  // numbers; 0: not this one
    std::uint64_t block;
    std::uint64_t other_provider;
};

/// In memory that the tracer shares with the emitter.
struct emitter_command {
    // For the emitter:
    event_kind kind;
    std::uint64_t number;  // 0: say what has been counted
    std::uint64_t size;
    handler_events in_handler;  // by the handler of SIGUSR1
    // By the emitter:
    std::uint64_t interrupted_at;  // where the handler will return to
    std::uint64_t accounted;       // events, of both providers, that were written or lost
    // Lost because a region could not be entered:
    std::uint64_t unattached;
    std::uint64_t unattached_neighbours;
};

/// Traps, emits one event, and so on for ever.
[[noreturn]] void run_emitter(emitter_command& with);

/// The gate word of an event, in the calling process and in a forked child of it.
[[nodiscard]] std::uint64_t gate_address(event_kind kind);

/// The word in which the calling process, or a forked child of it, counts the events of the first
/// provider that are written on that CPU.
[[nodiscard]] std::uint64_t counter_address(unsigned cpu);

}  // namespace eventlog::test
