// SPDX-License-Identifier: MIT
//
// Compresses bytes to zstd frames of known content size, and decompresses untrusted frames.
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
inline constexpr int compression_level_default = 1;

/// Not for concurrent use by several threads.
class frame_compressor {
  public:
    /// `level`: from compression_level_min to compression_level_max. Throws user_error if there is
    /// no memory.
    explicit frame_compressor(int level);

    /// One frame with its content's size in the header, or an empty span if the frame would not be
    /// smaller than `bytes`. Valid until the next call.
    [[nodiscard]] std::span<const std::uint8_t> compress(std::span<const std::uint8_t> bytes);

  private:
    struct release {
        void operator()(ZSTD_CCtx_s* context) const noexcept;
    };

    std::unique_ptr<ZSTD_CCtx_s, release> context_;
    std::vector<std::uint8_t> frame_;
};

/// Not for concurrent use by several threads.
class frame_decompressor {
  public:
    /// Appends the content of the frame to `out`. Returns false, with `out` unchanged, unless the
    /// bytes are exactly one valid frame with its content's size in the header, and that is at most
    /// `size_max`. Allocates no more than `size_max` for it.
    [[nodiscard]] bool decompress(std::span<const std::uint8_t> frame, std::size_t size_max,
                                  std::vector<std::uint8_t>& out);

  private:
    struct release {
        void operator()(ZSTD_DCtx_s* context) const noexcept;
    };

    std::unique_ptr<ZSTD_DCtx_s, release> context_;
};

}  // namespace elog
