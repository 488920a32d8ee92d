// SPDX-License-Identifier: MIT
//
// The constants of an event that a call site passes to the encoder and to the library.
#pragma once

#include <cstddef>
#include <cstdint>

#include <eventlog/abi.h>
#include <eventlog/detail/layout.hpp>
#include <eventlog/detail/var_fields.hpp>
#include <eventlog/metadata.hpp>
#include <eventlog/schema_format.hpp>

namespace eventlog {
inline namespace v0 {
namespace detail {

/// The offset of a variable field's word in the fixed part, and the distance from its end to the
/// end of the fixed part.
struct var_field_location {
    std::uint16_t offset = 0;
    std::uint16_t distance = 0;
    std::uint8_t unit = unit_of_text;  // in which it is truncated

    [[nodiscard]] constexpr bool is_text() const noexcept { return unit == unit_of_text; }
};

/// The encoder's constants of an event, besides the numbers of words, variable fields and arrays.
/// They are on one cache line, together with the provider's handle: the path to the ring begins
/// here, and each dependent load makes it longer. The handle is no std::atomic: in unoptimized
/// code, functions of std::atomic are shared by all plugins of a process.
struct alignas(64) [[gnu::visibility("hidden")]] event_site {
    eventlog_site common{};  // the first member: the library knows only this part
    const var_field_location* var_fields = nullptr;
    std::uint32_t event = 0;
    bool cuts = false;
    // Most events have one variable field, whose location needs no further load.
    var_field_location first{};

    [[nodiscard]] const var_field_location& location_of(std::size_t var_field) const noexcept {
        return var_field == 0 ? first : var_fields[var_field];
    }
    [[nodiscard]] eventlog_provider* handle() const noexcept {
        return __atomic_load_n(&common.provider, __ATOMIC_ACQUIRE);
    }
    void set_handle(eventlog_provider * handle) noexcept {
        __atomic_store_n(&common.provider, handle, __ATOMIC_RELEASE);
    }
};

template <std::size_t Count>
struct var_field_locations {
    var_field_location locations[at_least_one(Count)]{};
};

constexpr void locate_var_fields(const field_location* fields, std::size_t fixed_size,
                                 std::size_t count, var_field_location* var_fields) {
    for (std::size_t i = 0; count != 0; ++i) {
        const field_location& field = fields[i];
        if (is_variable(field.type, field.count)) {
            *var_fields++ = {static_cast<std::uint16_t>(field.offset),
                             static_cast<std::uint16_t>(fixed_size - field.offset - 4),
                             unit_of(field.type)};
            --count;
        }
    }
}

template <class Event>
constexpr auto make_var_field_locations() {
    var_field_locations<event_layout<Event>::var_field_count> made;
    using layout = event_layout<Event>;
    locate_var_fields(layout::locations, layout::fixed_size, layout::var_field_count,
                      made.locations);
    return made;
}

template <class Event>
[[gnu::visibility("hidden")]] inline constexpr auto var_field_locations_of =
    make_var_field_locations<Event>();

/// Whether an event has at most three words and one text. Most events are small; they have a fast
/// path of their own.
template <class Event>
inline constexpr bool is_small_event =
    event_layout<Event>::word_count <= 3 && event_layout<Event>::var_field_count == 1 &&
    event_layout<Event>::has_only_texts && !event_layout<Event>::has_optional_var_fields &&
    !event_layout<Event>::has_c_strings && event_layout<Event>::array_count == 0;

/// The fallback of small events.
[[gnu::visibility("hidden")]] inline void emit_small_slow(const eventlog_site* site,
                                                          std::uint64_t first, std::uint64_t second,
                                                          std::uint64_t third, const void* text,
                                                          std::size_t size) noexcept;

template <class Event>
consteval event_site make_site(std::size_t event, std::uint32_t* gate) {
    using layout = event_layout<Event>;
    return {{nullptr, is_small_event<Event> ? emit_small_slow : nullptr,
             std::uint64_t{event} << 10U | layout::fixed_size, layout::fixed_size, gate + event},
            var_field_locations_of<Event>.locations,
            static_cast<std::uint32_t>(event),
            event_info_of<Event>.oversize == oversize::truncate,
            var_field_locations_of<Event>.locations[0]};
}

}  // namespace detail
}  // namespace v0
}  // namespace eventlog
