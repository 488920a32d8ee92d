// SPDX-License-Identifier: MIT
//
// The value of a field as it stands in the payload.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <eventlog/detail/field_types.hpp>

namespace eventlog::detail {

/// std::chrono::nanoseconds
template <class Duration>
inline constexpr bool is_nanoseconds = false;
template <duration_field Duration>
inline constexpr bool is_nanoseconds<Duration> =
    std::is_integral_v<typename Duration::rep> && sizeof(typename Duration::rep) == 8 &&
    Duration::period::num == 1 && Duration::period::den == 1'000'000'000;

/// As std::chrono::duration_cast to nanoseconds, without <chrono>.
template <class Duration>
[[gnu::always_inline]] constexpr std::int64_t nanoseconds_in(const Duration& time) noexcept {
    using common = std::common_type_t<typename Duration::rep, std::int64_t>;
    constexpr std::int64_t second = 1'000'000'000;
    constexpr std::int64_t shared = [] {
        std::int64_t one = second;
        std::int64_t other = Duration::period::den;
        while (other != 0) {
            const std::int64_t rest = one % other;
            one = other;
            other = rest;
        }
        return one;
    }();
    constexpr std::int64_t factor = Duration::period::num * (second / shared);
    constexpr std::int64_t divisor = Duration::period::den / shared;
    return static_cast<std::int64_t>(static_cast<common>(time.count()) *
                                     static_cast<common>(factor) / static_cast<common>(divisor));
}

template <scalar_field Field>
[[gnu::always_inline]] constexpr auto to_wire(const Field& value) noexcept {
    if constexpr (duration_field<Field>) {
        return nanoseconds_in(value);
    } else if constexpr (time_point_field<Field>) {
        return nanoseconds_in(value.time_since_epoch());
    } else if constexpr (std::is_same_v<Field, std::nullptr_t>) {
        return std::uint64_t{0};
    } else if constexpr (pointer_field<Field>) {
        return std::uint64_t{reinterpret_cast<std::uintptr_t>(value)};
    } else {
        return value;
    }
}

/// Whether the bytes of the member are the bytes of the payload.
template <class Field>
inline constexpr bool same_bytes = address_field<Field> ||
                                   (scalar_field<element_of<Field>> &&
                                    !duration_field<element_of<Field>> &&
                                    !time_point_field<element_of<Field>> &&
                                    !std::is_same_v<element_of<Field>, std::nullptr_t> &&
                                    !(pointer_field<element_of<Field>> && sizeof(void*) != 8));

template <class Field>
void put_array(unsigned char* target, const Field& field) noexcept {
    if constexpr (same_bytes<Field>) {
        std::memcpy(target, &field, sizeof field);
    } else {
        for (const auto& single : field) {
            const auto number = to_wire(single);
            std::memcpy(target, &number, sizeof number);
            target += sizeof number;
        }
    }
}

/// Writes an array, whatever its length, or nothing in place of one that has no value.
template <class Field>
[[gnu::visibility("hidden")]] void put_block(unsigned char* target, const void* field) noexcept {
    const Field& value = *static_cast<const Field*>(field);
    if constexpr (optional_field<Field>) {
        if (value.has_value()) {
            put_array(target, *value);
        }
    } else {
        put_array(target, value);
    }
}

}  // namespace eventlog::detail
