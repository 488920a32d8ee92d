// SPDX-License-Identifier: MIT
//
// Upper bounds for the number of different keys, which limit the size of tables in the kernel.
#pragma once

#include <cstddef>
#include <cstdint>

namespace elog {

/// Larger than any table.
inline constexpr std::uint64_t unbounded_cardinality = ~std::uint64_t{0};
/// The kernel's PID_MAX_LIMIT.
inline constexpr std::uint64_t threads_max = std::uint64_t{1} << 22U;
/// More than any kernel configuration supports.
inline constexpr std::uint64_t cpus_max = std::uint64_t{1} << 14U;

[[nodiscard]] constexpr std::uint64_t saturating_product(std::uint64_t one,
                                                         std::uint64_t other) noexcept {
    std::uint64_t result = 0;
    return __builtin_mul_overflow(one, other, &result) ? unbounded_cardinality : result;
}

/// For a field of this size.
[[nodiscard]] constexpr std::uint64_t cardinality_of_bytes(std::size_t size) noexcept {
    return size >= sizeof(std::uint64_t) ? unbounded_cardinality : std::uint64_t{1} << (size * 8);
}

}  // namespace elog
