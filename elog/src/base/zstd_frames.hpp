// SPDX-License-Identifier: MIT
//
// zstd frames of a known size: compressing them, and taking them apart without trusting them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace elog {

inline constexpr int compression_level_min = 1;
inline constexpr int compression_level_max = 19;  // the levels above need much memory to decompress
inline constexpr int compression_level_default = 3;

/// Not for use by several threads at once, as the one below.
class frame_compressor {
  public:
    /// `level`: from compression_level_min to compression_level_max. Throws failure if there is no
    /// memory.
    explicit frame_compressor(int level);

    /// One frame that says its content's size, or nothing if it would not be smaller than the
    /// bytes. Valid until the next call.
    [[nodiscard]] std::span<const std::uint8_t> compress(std::span<const std::uint8_t> bytes);

  private:
    struct release {
        void operator()(ZSTD_CCtx_s* context) const noexcept;
    };

    std::unique_ptr<ZSTD_CCtx_s, release> context_;
    std::vector<std::uint8_t> frame_;
};

class frame_decompressor {
  public:
    /// Appends the content of the frame to `out`. False, with `out` as it was, if the bytes are not
    /// exactly one sound frame that says its content's size, or if that is over `size_max`: no more
    /// memory than that is ever taken for it.
    [[nodiscard]] bool decompress(std::span<const std::uint8_t> frame, std::size_t size_max,
                                  std::vector<std::uint8_t>& out);

  private:
    struct release {
        void operator()(ZSTD_DCtx_s* context) const noexcept;
    };

    std::unique_ptr<ZSTD_DCtx_s, release> context_;
};

}  // namespace elog
