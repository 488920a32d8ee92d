// SPDX-License-Identifier: MIT
//
// The events of the call sites that run.py checks, and the functions that mark a call site.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <eventlog/eventlog.hpp>

namespace sites {

struct numbers {
    std::uint64_t sequence;
    std::uint32_t bytes;
    std::uint32_t window;
};
struct described {
    std::uint64_t sequence;
    std::string_view reason;
    std::uint32_t bytes;
};
struct named {
    const char* name;
    std::uint64_t sequence;
};
struct owning {
    std::uint64_t sequence;
    std::string reason;
};
/// Values of all kinds, more than the argument registers hold.
struct wide {
    std::uint64_t first;
    std::int64_t second;
    std::uint32_t third;
    std::int32_t fourth;
    std::string_view fifth;
    double sixth;
    float seventh;
    std::uint16_t eighth;
    std::int8_t ninth;
    bool tenth;
    char eleventh;
    std::string_view twelfth;
    std::uint64_t thirteenth;
};

/// Equal to its payload byte for byte, and too large for registers.
struct block {
    std::uint64_t sequence;
    std::array<std::uint32_t, 30> samples;
};

/// Not equal to its payload, and larger than compilers keep in registers.
struct long_row {
    std::uint64_t a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p;
    std::string_view reason;
    std::string_view peer;
};

/// An array passed by address, and a text that owns its characters.
struct sampled {
    std::array<std::uint32_t, 64> samples;
    std::string reason;
};
/// The same with a text that does not own them.
struct sampled_view {
    std::array<std::uint32_t, 64> samples;
    std::string_view reason;
};

enum class state : std::uint8_t { idle, busy, gone };
struct changed {
    std::uint64_t sequence;
    std::optional<std::uint32_t> code;
    std::optional<std::string_view> reason;
    state now;
};

/// Equal to their payload byte for byte: no padding, only fixed fields, the widest first.
struct flags {
    bool first, second, third, fourth, fifth, sixth, seventh, eighth;
};
struct point {
    double x;
    float y;
    float z;
};
struct every_width {
    std::uint64_t eight;
    std::int64_t took;
    std::uint32_t four;
    float ratio;
    std::int32_t left;
    std::uint32_t right;
    std::uint16_t two;
    std::int16_t other;
    std::uint8_t one;
    bool is_so;
    char letter;
    state now;
};
struct pair_of_points {
    std::uint64_t number;
    struct {
        float x, y;
    } from, to;
};
struct short_arrays {
    std::uint32_t port;
    std::array<std::uint8_t, 4> address;
    std::array<std::uint8_t, 16> label;
};
struct eight_words {
    std::uint64_t a, b, c, d, e, f, g;
    double h;
};
/// Without padding, but its payload has another order.
struct unsorted {
    std::uint16_t from;
    std::uint16_t to;
    float ratio;
    std::uint32_t first;
    std::uint16_t second;
    std::uint16_t third;
};

struct received {
    std::uint32_t bytes;
    std::string_view from;
};

using site = eventlog::provider<"site", numbers, described, named, owning, wide, block, long_row,
                                sampled, sampled_view, changed, received, flags, point, every_width,
                                pair_of_points, short_arrays, eight_words, unsorted>;

template <class... Events>
inline constexpr bool are_their_payload = (eventlog::detail::is_memcpy_payload<Events> && ...);
static_assert(are_their_payload<numbers, block, flags, point, every_width, pair_of_points,
                                short_arrays, eight_words>);
static_assert(!are_their_payload<unsorted>);

inline std::uint64_t mix(std::uint64_t value) {
    value ^= value >> 33U;
    value *= 0xff51afd7ed558ccdU;
    value ^= value >> 29U;
    value *= 0xc4ceb9fe1a85ec53U;
    return value ^ value >> 32U;
}

inline std::uint64_t hash(std::string_view text) {
    std::uint64_t value = 0xcbf29ce484222325U;
    for (const char character : text) {
        value = (value ^ static_cast<unsigned char>(character)) * 0x100000001b3U;
    }
    return value;
}

}  // namespace sites

template <>
inline constexpr eventlog::event_info eventlog::event_info_of<sites::received>{.session_bound =
                                                                                   true};

extern "C" {

void begin() noexcept;
int end() noexcept;
std::uint64_t compute(std::uint64_t value) noexcept;
}
