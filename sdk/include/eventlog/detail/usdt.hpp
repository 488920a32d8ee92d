// SPDX-License-Identifier: MIT
//
// USDT probes for the events of providers whose info request them. Debuggers and tracers find
// them in the program's file, on any kernel.
//
// A probe has at most twelve arguments, the fields in declared order: numbers by value, other
// fields by address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include <eventlog/detail/event_schema.hpp>
#include <eventlog/detail/field_types.hpp>
#include <eventlog/detail/fields.hpp>
#include <eventlog/detail/fixed_string.hpp>
#include <eventlog/detail/layout.hpp>
#include <eventlog/detail/members.hpp>
#include <eventlog/detail/usdt_note.hpp>
#include <eventlog/detail/values.hpp>

namespace eventlog {
inline namespace v0 {
namespace detail {

/// The size of the copy of a std::string_view, with a NUL, which tracers require. bpftrace reads no
/// more than that.
inline constexpr std::size_t probe_text_size = 200;

/// Collects arguments; those beyond the maximum are left out.
template <std::size_t Copies>
struct probe_arguments {
    std::uint64_t values[probe_arguments_max]{};
    std::size_t count = 0;
    std::size_t copied = 0;
    char texts[at_least_one(Copies)][probe_text_size]{};

    void add(std::uint64_t value) noexcept {
        if (count < probe_arguments_max) {
            values[count++] = value;
        }
    }
    void add_address(const void* address) noexcept {
        add(reinterpret_cast<std::uintptr_t>(address));
    }
    void add_copy(std::string_view text) noexcept {
        if (count == probe_arguments_max) {
            return;
        }
        char* const copy = texts[copied++];
        const std::size_t size = text.size() < probe_text_size ? text.size() : probe_text_size - 1;
        if (size != 0) {
            std::memcpy(copy, text.data(), size);
        }
        copy[size] = 0;
        add_address(copy);
    }
    /// Of an array of at most 16 bytes, which does not live until the probe.
    void add_copy(const void* array, std::size_t size) noexcept {
        if (count != probe_arguments_max) {
            add_address(std::memcpy(texts[copied++], array, size));
        }
    }
};

/// The number as an integer of 64 bits, the only kind that tracers read.
template <scalar_field Field>
std::uint64_t probe_number(const Field& field) noexcept {
    const auto value = to_wire(field);
    if constexpr (std::is_floating_point_v<decltype(value)>) {
        return __builtin_bit_cast(std::uint64_t, static_cast<double>(value));
    } else {
        return static_cast<std::uint64_t>(value);
    }
}

/// Whether an adapter returns an array by value.
template <class Field>
inline constexpr bool returns_array = false;
template <converted_field Field>
inline constexpr bool returns_array<Field> =
    array_field<conversion_result<Field>> || address_field<conversion_result<Field>>;

/// Whether a field has a second argument: the number of its bytes or elements.
template <class Field>
concept has_probe_size = variable_field<Field> && !text_field<Field>;

/// Adds the arguments of a field, or of all fields of a struct. Adds zeros for an optional without
/// a value.
template <class Arguments, class Field>
void add_probe_arguments(Arguments& to, const Field& field) noexcept {
    if constexpr (returns_array<Field>) {
        const auto array = convert<Field>::to_field(field);
        to.add_copy(&array, sizeof array);
    } else if constexpr (converted_field<Field>) {
        add_probe_arguments(to, convert<Field>::to_field(field));
    } else if constexpr (nested_field<Field>) {
        members_of<Field>::with(
            field, [&to](const auto&... members) { (add_probe_arguments(to, members), ...); });
    } else if constexpr (optional_field<Field>) {
        if (field.has_value()) {
            add_probe_arguments(to, *field);
        } else {
            to.add(0);
            if constexpr (has_probe_size<remove_optional_t<Field>>) {
                to.add(0);
            }
        }
    } else if constexpr (std::is_pointer_v<Field> && text_field<Field>) {
        to.add_address(field);
    } else if constexpr (std::is_same_v<Field, std::string_view>) {
        to.add_copy(field);
    } else if constexpr (text_field<Field>) {
        to.add_address(field.c_str());
    } else if constexpr (has_probe_size<Field>) {
        to.add_address(field.data());
        to.add(field.size());
    } else if constexpr (scalar_field<Field>) {
        to.add(probe_number(field));
    } else {
        to.add_address(&field);
    }
}

/// Whether a number of this type is signed.
constexpr bool has_sign(const field_kind& kind) {
    switch (kind.type) {
        case field_type::signed_8:
        case field_type::signed_16:
        case field_type::signed_32:
        case field_type::signed_64:
            return kind.count == 1 && kind.mode == pass_mode::by_value;
        default:
            return false;
    }
}

template <class Event>
consteval probe_description describe_probe(std::string_view provider) {
    const event_schema& event = event_schema_of<Event>;
    probe_description made;
    made.provider = make_probe_name(provider.data(), provider.size());
    made.event = make_probe_name(event.name.begin, event.name.size);
    made.count = event_layout<Event>::session_bound ? 1 : 0;
    for (std::size_t i = 0; i < event.count && made.count < probe_arguments_max; ++i) {
        const field_kind& kind = *event.kinds[i];
        made.signs |= std::uint64_t{has_sign(kind)} << made.count;
        const bool is_text = kind.type == field_type::text;
        made.count += is_variable(kind.type, kind.count) && !is_text ? 2 : 1;
    }
    made.count = made.count < probe_arguments_max ? made.count : probe_arguments_max;
    return made;
}

/// Whether a field may need a copy: texts, and arrays that an adapter returns.
consteval bool may_need_copy(const field_kind& kind) {
    return kind.type == field_type::text ||
           (kind.mode == pass_mode::by_value && kind.count > 1 && !kind.has_same_bytes);
}

template <class Event>
consteval std::size_t count_copies() {
    std::size_t copies = 0;
    for (std::size_t i = 0; i < event_schema_of<Event>.count; ++i) {
        copies += may_need_copy(*event_schema_of<Event>.kinds[i]) ? 1 : 0;
    }
    return copies < probe_arguments_max ? copies : probe_arguments_max;
}

/// The probe of one event. Each shared object has its own, because tracers attach to objects.
template <fixed_string Provider, class Event>
struct [[gnu::visibility("hidden")]] probe {
    static constexpr probe_description description = describe_probe<Event>(Provider.view());
    static inline constinit probe_semaphore semaphore{};

    /// Whether a tracer is attached: a load and a test.
    [[gnu::always_inline]] static bool is_enabled() noexcept {
        return __atomic_load_n(&semaphore.count, __ATOMIC_RELAXED) != 0;
    }

    /// `made` is the event, or what it wraps.
    template <class Made>
    [[gnu::noinline, gnu::cold]] static void fire(std::uint64_t session,
                                                  const Made& made) noexcept {
        probe_arguments<count_copies<Event>()> arguments;
        if constexpr (event_layout<Event>::session_bound) {
            arguments.add(session);
        }
        if constexpr (event_layout<Event>::fields::count != 0) {
            add_probe_arguments(arguments, made);
        }
        fire_probe<description, semaphore>(arguments.values);
    }
};

}  // namespace detail
}  // namespace v0
}  // namespace eventlog
