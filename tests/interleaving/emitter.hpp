// SPDX-License-Identifier: MIT
//
// The process that is interrupted: it emits one event per command.
//
// The contents of an event are determined by its number and size, so that torn records and records
// of other events are detected.
#pragma once

#include <linux/eventlog.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "listener.hpp"

namespace eventlog::test {

/// Events of two providers, which share only their subscriptions.
enum class event_kind : std::uint32_t {
    small,           // a few words and one text
    block,           // words only
    filler,          // fills the buffer
    other_provider,  // small, of the other provider
    large,           // words only, over 255 bytes
};
inline constexpr const char* all_events = "stepped*:*";
// Both providers have events that match these.
inline constexpr const char* all_but_small = "stepped*:*o*";
inline constexpr const char* all_but_block = "stepped*:*t*";

/// The bytes of a filler's record in addition to its data.
inline constexpr std::size_t filler_overhead = EVENTLOG_EXTENDED_HEADER_SIZE + 12;
inline constexpr std::size_t text_size_max = 1000;

/// The number of an event, which includes its kind.
[[nodiscard]] std::uint64_t number_of(event_kind kind, std::uint64_t serial);

/// Emits an event. `size` is that of the text or of the filler's data.
void emit(event_kind kind, std::uint64_t number, std::size_t size) noexcept;

/// The number of a record. If the record is torn, fails the test and returns nothing.
[[nodiscard]] std::optional<std::uint64_t> number_in(const event_listener& listener,
                                                     const received_record& record);

/// The events that a signal handler emits, in this order.
struct handler_events {
    std::uint64_t small;  // numbers; 0: not emitted
    std::uint64_t block;
    std::uint64_t other_provider;
};

/// In memory that the tracer shares with the emitter.
struct emitter_command {
    // For the emitter:
    event_kind kind;
    std::uint64_t number;  // 0: report the counters
    std::uint64_t size;
    handler_events in_handler;  // by the handler of SIGUSR1
    // By the emitter:
    std::uint64_t interrupted_at;  // return address of the handler
    std::uint64_t accounted;       // written and lost events of both providers
    // Lost because the provider could not attach to the region:
    std::uint64_t unattached;
    std::uint64_t unattached_neighbours;
};

/// Repeats: traps, then emits the event of the command.
[[noreturn]] void run_emitter(emitter_command& with);

/// The gate word of an event, in the calling process and in a forked child of it.
[[nodiscard]] std::uint64_t gate_address(event_kind kind);

/// The word in which the calling process, or a forked child of it, counts the first provider's
/// events that are written on that CPU.
[[nodiscard]] std::uint64_t counter_address(unsigned cpu);

}  // namespace eventlog::test
