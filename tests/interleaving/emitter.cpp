// SPDX-License-Identifier: MIT
#include "emitter.hpp"

#include <ucontext.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

#include "provider/counters.hpp"
#include "ring/gate_layout.hpp"

namespace eventlog::test {
namespace {

struct tiny {
    std::uint64_t number;
    std::uint64_t check;
    std::string_view text;
};
struct block {
    std::uint64_t number;
    std::uint64_t check;
    std::uint64_t third, fourth, fifth;
};
struct filler {
    std::uint64_t number;
    std::span<const std::uint8_t> data;
};
struct large {
    std::uint64_t number;
    std::uint64_t check;
    std::array<std::uint64_t, 33> words;
};
using stepped = eventlog::provider<"stepped", tiny, block, filler, large>;
// A provider's metadata is looked up while its class is instantiated.
static_assert(std::is_empty_v<stepped>);
using stepped_state = eventlog::detail::provider_state<
    "stepped", stepped, detail::with_builtin_events<stepped, tiny, block, filler, large>>;

struct other_provider {
    std::uint64_t number;
    std::uint64_t check;
    std::string_view text;
};
using stepped_neighbour = eventlog::provider<"stepped_neighbour", other_provider>;
static_assert(std::is_empty_v<stepped_neighbour>);
using neighbour_state = eventlog::detail::provider_state<
    "stepped_neighbour", stepped_neighbour,
    detail::with_builtin_events<stepped_neighbour, other_provider>>;

constexpr std::size_t interlude_text_size = 21;
constexpr unsigned kind_shift = 56;

constinit std::array<std::uint8_t, EVENTLOG_RECORD_SIZE_MAX> filling{};

constexpr std::uint64_t check_of(std::uint64_t number, std::uint64_t salt) {
    return (number + salt) * 0x9e3779b97f4a7c15U;
}

/// Texts are created before the first event: creating one would add steps to the trace.
constexpr std::size_t letter_count = 93;
constexpr auto letters = [] {
    std::array<char, letter_count + text_size_max> text{};
    for (std::size_t i = 0; i < text.size(); ++i) {
        text[i] = static_cast<char>('!' + i % letter_count);
    }
    return text;
}();

constexpr std::string_view text_of(std::uint64_t number, std::size_t size) {
    return {letters.data() + number * 7 % letter_count, size};
}

block block_of(std::uint64_t number) {
    return {number, check_of(number, 5), check_of(number, 3), ~number, check_of(number, 1)};
}

large large_of(std::uint64_t number) {
    large made{number, check_of(number, 7), {}};
    std::uint64_t position = 0;
    for (std::uint64_t& word : made.words) {
        word = check_of(number, ++position);
    }
    return made;
}

/// Emits an event with a text, of either provider.
template <class Provider, class Event>
void emit_text_event(std::uint64_t number, std::size_t size) noexcept {
    Provider::emit(Event{number, check_of(number, size), text_of(number, size)});
}

constinit emitter_command* command = nullptr;

void handle(int /*signal*/, siginfo_t* /*cause*/, void* context) {
    command->interrupted_at =
        static_cast<std::uint64_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
    const handler_events& in_handler = command->in_handler;
    if (in_handler.small != 0) {
        emit(event_kind::small, in_handler.small, interlude_text_size);
    }
    if (in_handler.block != 0) {
        emit(event_kind::block, in_handler.block, 0);
    }
    if (in_handler.other_provider != 0) {
        emit(event_kind::other_provider, in_handler.other_provider, interlude_text_size);
    }
}

eventlog_counters counters_of(const provider_status& status) {
    return status.routes[EVENTLOG_ROUTE_MEMORY].counters;
}

void report_counters(emitter_command& with) {
    const eventlog_counters own = counters_of(stepped::status());
    const eventlog_counters neighbours = counters_of(stepped_neighbour::status());
    const auto attempted = [](const eventlog_counters& counters) {
        return counters.written + counters.lost_full + counters.lost_too_large +
               counters.lost_busy + counters.lost_unattached + counters.lost_refused;
    };
    with.accounted = attempted(own) + attempted(neighbours);
    with.unattached = own.lost_unattached;
    with.unattached_neighbours = neighbours.lost_unattached;
}

template <class Value>
Value value_of(const event_listener& listener, const received_record& record,
               std::string_view field) {
    return std::get<Value>(listener.field(record, field));
}

bool is_whole(const event_listener& listener, const received_record& record, event_kind kind,
              std::uint64_t number) {
    const auto word = [&](std::string_view field) {
        return value_of<std::uint64_t>(listener, record, field);
    };
    switch (kind) {
        case event_kind::small:
        case event_kind::other_provider: {
            const auto text = value_of<std::string_view>(listener, record, "text");
            return text.size() <= text_size_max && text == text_of(number, text.size()) &&
                   word("check") == check_of(number, text.size()) && record.payload.back() == 0;
        }
        case event_kind::block: {
            const block expected = block_of(number);
            return word("check") == expected.check && word("third") == expected.third &&
                   word("fourth") == expected.fourth && word("fifth") == expected.fifth;
        }
        case event_kind::large: {
            const large expected = large_of(number);
            return record.payload.size() == sizeof expected &&
                   std::memcmp(record.payload.data(), &expected, sizeof expected) == 0;
        }
        case event_kind::filler:
            return record.payload.size() >= filler_overhead - EVENTLOG_EXTENDED_HEADER_SIZE &&
                   std::all_of(record.payload.begin() + 12, record.payload.end(),
                               [](std::uint8_t byte) { return byte == 0; });
    }
    return false;
}

}  // namespace

std::uint64_t number_of(event_kind kind, std::uint64_t serial) {
    return std::uint64_t{static_cast<std::uint32_t>(kind)} << kind_shift | serial;
}

void emit(event_kind kind, std::uint64_t number, std::size_t size) noexcept {
    switch (kind) {
        case event_kind::small:
            emit_text_event<stepped, tiny>(number, size);
            break;
        case event_kind::other_provider:
            emit_text_event<stepped_neighbour, other_provider>(number, size);
            break;
        case event_kind::block:
            stepped::emit(block_of(number));
            break;
        case event_kind::filler:
            stepped::emit(filler{number, std::span(filling).first(size)});
            break;
        case event_kind::large:
            stepped::emit(large_of(number));
            break;
    }
}

std::optional<std::uint64_t> number_in(const event_listener& listener,
                                       const received_record& record) {
    constexpr std::array names{"tiny", "block", "filler", "other_provider", "large"};
    const std::string name = listener.event_name(record);
    const auto number = value_of<std::uint64_t>(listener, record, "number");
    const auto kind = number >> kind_shift;
    if (kind >= names.size() || name != names[kind]) {
        ADD_FAILURE() << "an event " << std::hex << number << " is recorded as " << name;
        return std::nullopt;
    }
    if (record.header.flags != 0 ||
        !is_whole(listener, record, static_cast<event_kind>(kind), number)) {
        ADD_FAILURE() << "the record of " << name << " " << std::hex << number << " is torn";
        return std::nullopt;
    }
    return number;
}

void run_emitter(emitter_command& with) {
    command = &with;
    struct sigaction action {};
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    ::sigaction(SIGUSR1, &action, nullptr);
    for (;;) {
        asm volatile("int3" ::: "memory");
        if (with.number == 0) {
            report_counters(with);
        } else {
            emit(with.kind, with.number, with.size);
        }
    }
}

std::uint64_t gate_address(event_kind kind) {
    const std::uint32_t* const words = kind == event_kind::other_provider
                                           ? neighbour_state::gate.words
                                           : stepped_state::gate.words;
    // The events of a provider are in the order of its definition.
    const std::size_t event = kind == event_kind::other_provider ? 0
                              : kind == event_kind::large        ? 3
                                                                 : static_cast<std::size_t>(kind);
    return reinterpret_cast<std::uint64_t>(words + event);
}

std::uint64_t counter_address(unsigned cpu) {
    eventlog_counters_page& page = core::counters_of_gate(stepped_state::gate.words);
    return reinterpret_cast<std::uint64_t>(page.written_by_cpu) +
           std::uint64_t{cpu} * core::process_counter_layout.stride;
}

}  // namespace eventlog::test
