// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace elog {

/// CRC-32C (Castagnoli), as in iSCSI, ext4 and Snappy frames. To go on from an earlier part, give
/// its result.
[[nodiscard]] std::uint32_t crc32c(std::span<const std::uint8_t> bytes,
                                   std::uint32_t earlier = 0) noexcept;

/// The same without the processor's instruction; what the tests compare with.
[[nodiscard]] std::uint32_t crc32c_by_table(std::span<const std::uint8_t> bytes,
                                            std::uint32_t earlier = 0) noexcept;

}  // namespace elog
