// SPDX-License-Identifier: MIT
//
// CRC-32C (Castagnoli), as in iSCSI, ext4 and Snappy frames.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace elog {

/// The checksum of `bytes`, or of an earlier part and `bytes` if `earlier` is the earlier part's
/// checksum.
[[nodiscard]] std::uint32_t crc32c(std::span<const std::uint8_t> bytes,
                                   std::uint32_t earlier = 0) noexcept;

/// The same without the processor's instruction. Public for the tests, which compare both.
[[nodiscard]] std::uint32_t crc32c_by_table(std::span<const std::uint8_t> bytes,
                                            std::uint32_t earlier = 0) noexcept;

}  // namespace elog
