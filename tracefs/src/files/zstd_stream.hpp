// SPDX-License-Identifier: MIT
//
// Decompressing what others have compressed with zstd, without trusting it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

struct ZSTD_DCtx_s;

namespace eventlog::tracefs {

class zstd_stream {
  public:
    /// All that comes of it are `allowed` bytes, and a thousand times those that it is made of:
    /// recordings become a hundred times as much at most, and hostile ones thirty thousand times.
    /// Throws error if there is no memory.
    explicit zstd_stream(std::uint64_t allowed);

    /// Appends what the next bytes of the stream become. False, if they are not sound, or become
    /// more than `size_max` bytes, or than is allowed; then there is nothing more to be had of it.
    /// Takes memory for what they become, some of it to spare, and for no more than `size_max`:
    /// what a file says that they become is no reason to.
    [[nodiscard]] bool decompress(std::span<const std::uint8_t> bytes, std::size_t size_max,
                                  std::vector<std::uint8_t>& out);
    /// What comes is the beginning of another stream; what is allowed is for all.
    void restart();

  private:
    struct release {
        void operator()(ZSTD_DCtx_s* context) const noexcept;
    };

    std::unique_ptr<ZSTD_DCtx_s, release> context_;
    std::uint64_t allowed_;
};

}  // namespace eventlog::tracefs
