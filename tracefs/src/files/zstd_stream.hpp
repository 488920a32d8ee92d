// SPDX-License-Identifier: MIT
//
// Decompresses untrusted zstd data with bounds on output and memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

struct ZSTD_DCtx_s;

namespace eventlog::tracefs {

class zstd_stream {
  public:
    /// The total output is bounded by `allowed` bytes plus a thousand times the input: recordings
    /// compress to a hundredth at most, hostile data to a thirty-thousandth. Throws error if there
    /// is no memory.
    explicit zstd_stream(std::uint64_t allowed);

    /// Appends the decompressed form of the next bytes of the stream. Returns false if they are
    /// invalid or exceed `size_max` or the total bound; then the stream cannot be continued. Memory
    /// grows with the actual output, at most to `size_max`; sizes stated in the file have no
    /// influence.
    [[nodiscard]] bool decompress(std::span<const std::uint8_t> bytes, std::size_t size_max,
                                  std::vector<std::uint8_t>& out);
    /// The next bytes start another stream. The total bound covers all streams.
    void restart();

  private:
    struct release {
        void operator()(ZSTD_DCtx_s* context) const noexcept;
    };

    std::unique_ptr<ZSTD_DCtx_s, release> context_;
    std::uint64_t allowed_;
};

}  // namespace eventlog::tracefs
