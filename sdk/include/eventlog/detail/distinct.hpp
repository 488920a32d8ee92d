// SPDX-License-Identifier: MIT
//
// Tests at compile time whether names and values are distinct.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <eventlog/schema_format.hpp>

namespace eventlog {
inline namespace v0 {
namespace detail {

constexpr std::uint64_t hash_of(std::string_view name) {
    std::uint64_t hash = schema_format::fnv1a_start;
    for (const char character : name) {
        hash = (hash ^ static_cast<std::uint8_t>(character)) * schema_format::fnv1a_factor;
    }
    return hash;
}

/// Whether numbers, or hashes of names, are distinct. A hash table: a comparison of all pairs takes
/// compilers seconds for 256 numbers, and exceeds their limits for 1024.
template <std::size_t Count>
consteval bool are_distinct(const std::uint64_t (&numbers)[Count]) {
    constexpr std::size_t places = 2 * Count;
    constexpr std::uint64_t spread = 0x9e37'79b9'7f4a'7c15;  // 2^64 / the golden ratio
    std::size_t taken[places]{};                             // 0: free; else by numbers[taken - 1]
    for (std::size_t i = 0; i < Count; ++i) {
        std::size_t place = (numbers[i] * spread >> 32U) % places;
        for (; taken[place] != 0; place = (place + 1) % places) {
            if (numbers[taken[place] - 1] == numbers[i]) {
                return false;
            }
        }
        taken[place] = i + 1;
    }
    return true;
}

}  // namespace detail
}  // namespace v0
}  // namespace eventlog
