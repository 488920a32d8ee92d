// SPDX-License-Identifier: MIT
//
// Converts the value of a field to its form in the payload.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include <eventlog/detail/field_types.hpp>

namespace eventlog {
inline namespace v0 {
namespace detail {

/// std::chrono::nanoseconds
template <class Duration>
inline constexpr bool is_nanoseconds = false;
template <duration_field Duration>
inline constexpr bool is_nanoseconds<Duration> =
    std::is_integral_v<typename Duration::rep> && sizeof(typename Duration::rep) == 8 &&
    Duration::period::num == 1 && Duration::period::den == 1'000'000'000;

inline constexpr std::int64_t time_max = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t time_min = std::numeric_limits<std::int64_t>::min();

__extension__ using wide_integer = __int128;

consteval std::int64_t greatest_divisor(std::int64_t one, std::int64_t other) {
    while (other != 0) {
        const std::int64_t rest = one % other;
        one = other;
        other = rest;
    }
    return one;
}

/// count * factor, or the nearest limit on overflow.
[[gnu::always_inline]] constexpr std::int64_t scaled(std::int64_t count,
                                                     std::int64_t factor) noexcept {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(count, factor, &product)) [[unlikely]] {
        return count > 0 ? time_max : time_min;
    }
    return product;
}

/// count * factor / divisor, or the nearest limit on overflow. The intermediate product may exceed
/// the limits. The count has 64 bits, signed or unsigned, and the divisor is positive.
constexpr std::int64_t scaled(wide_integer count, wide_integer factor,
                              std::int64_t divisor) noexcept {
    // Two parts, because the product may need more than 128 bits.
    wide_integer time = 0;
    if (!__builtin_mul_overflow(count, factor / divisor, &time) && time <= time_max &&
        time >= time_min) {
        time += count * (factor % divisor) / divisor;
        if (time <= time_max && time >= time_min) {
            return static_cast<std::int64_t>(time);
        }
    }
    return count > 0 ? time_max : time_min;
}

/// Truncates to whole nanoseconds within the same limits; 0 for NaN.
template <class Real>
constexpr std::int64_t whole_time(Real time) noexcept {
    constexpr Real limit = static_cast<Real>(std::uint64_t{1} << 63U);
    if (time >= limit) {
        return time_max;
    }
    if (time < -limit) {
        return time_min;
    }
    return __builtin_isnan(time) ? 0 : static_cast<std::int64_t>(time);
}

/// As std::chrono::duration_cast to nanoseconds, without <chrono>, and limited to the range of the
/// result.
template <class Duration>
[[gnu::always_inline]] constexpr std::int64_t nanoseconds_in(const Duration& time) noexcept {
    using count = typename Duration::rep;
    constexpr std::int64_t second = 1'000'000'000;
    constexpr std::int64_t shared = greatest_divisor(second, Duration::period::den);
    constexpr wide_integer factor = wide_integer{Duration::period::num} * (second / shared);
    constexpr std::int64_t divisor = Duration::period::den / shared;
    if constexpr (std::is_floating_point_v<count>) {
        return whole_time(time.count() * static_cast<count>(factor) / static_cast<count>(divisor));
    } else {
        if constexpr (std::is_unsigned_v<count> && sizeof(count) == 8) {
            if (time.count() > std::uint64_t{time_max}) [[unlikely]] {
                return scaled(time.count(), factor, divisor);
            }
        }
        const auto number = static_cast<std::int64_t>(time.count());
        if constexpr (factor == 1) {
            return number / divisor;
        } else if constexpr (divisor == 1 && factor <= time_max) {
            return scaled(number, static_cast<std::int64_t>(factor));
        } else {
            return scaled(number, factor, divisor);
        }
    }
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

/// Whether the member's bytes in the event equal those in the payload.
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

/// Writes an array. Writes nothing for an optional without a value.
template <class Field>
[[gnu::visibility("hidden")]] void put_array_by_address(unsigned char* target,
                                                        const void* field) noexcept {
    const Field& value = *static_cast<const Field*>(field);
    if constexpr (optional_field<Field>) {
        if (value.has_value()) {
            put_array(target, *value);
        }
    } else {
        put_array(target, value);
    }
}

}  // namespace detail
}  // namespace v0
}  // namespace eventlog
