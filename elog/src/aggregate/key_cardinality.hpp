// SPDX-License-Identifier: MIT
//
// How many values keys can have: a table in the kernel is made for no more.
#pragma once

#include <cstddef>
#include <cstdint>

namespace elog {

/// More than is ever made room for.
inline constexpr std::uint64_t unbounded_cardinality = ~std::uint64_t{0};
/// The kernel's PID_MAX_LIMIT.
inline constexpr std::uint64_t threads_max = std::uint64_t{1} << 22U;
/// More than the kernel can be built for.
inline constexpr std::uint64_t cpus_max = std::uint64_t{1} << 14U;

[[nodiscard]] constexpr std::uint64_t saturating_product(std::uint64_t one,
                                                         std::uint64_t other) noexcept {
    std::uint64_t result = 0;
    return __builtin_mul_overflow(one, other, &result) ? unbounded_cardinality : result;
}

/// Of a field of so many bytes.
[[nodiscard]] constexpr std::uint64_t cardinality_of_bytes(std::size_t size) noexcept {
    return size >= sizeof(std::uint64_t) ? unbounded_cardinality : std::uint64_t{1} << (size * 8);
}

}  // namespace elog
