// SPDX-License-Identifier: MIT
#include "base/zstd_frames.hpp"

#include <zstd.h>

#include "base/user_error.hpp"

namespace elog {

void frame_compressor::release::operator()(ZSTD_CCtx_s* context) const noexcept {
    static_cast<void>(ZSTD_freeCCtx(context));
}

void frame_decompressor::release::operator()(ZSTD_DCtx_s* context) const noexcept {
    static_cast<void>(ZSTD_freeDCtx(context));
}

frame_compressor::frame_compressor(int level) : context_(ZSTD_createCCtx()) {
    if (!context_ ||
        ZSTD_isError(ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, level)) != 0) {
        throw user_error("There is no memory to compress in. Record without --compress.");
    }
}

std::span<const std::uint8_t> frame_compressor::compress(std::span<const std::uint8_t> bytes) {
    frame_.resize(ZSTD_compressBound(bytes.size()));
    const std::size_t size =
        ZSTD_compress2(context_.get(), frame_.data(), frame_.size(), bytes.data(), bytes.size());
    if (ZSTD_isError(size) != 0 || size >= bytes.size()) {
        return {};
    }
    return std::span<const std::uint8_t>(frame_).first(size);
}

bool frame_decompressor::decompress(std::span<const std::uint8_t> frame, std::size_t size_max,
                                    std::vector<std::uint8_t>& out) {
    const unsigned long long size = ZSTD_getFrameContentSize(frame.data(), frame.size());
    if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR || size > size_max ||
        ZSTD_findFrameCompressedSize(frame.data(), frame.size()) != frame.size()) {
        return false;
    }
    if (!context_) {
        context_.reset(ZSTD_createDCtx());
    }
    const std::size_t before = out.size();
    out.resize(before + static_cast<std::size_t>(size));
    // With a buffer for the whole content zstd allocates no window of the size in the frame.
    const bool sound = context_ && ZSTD_decompressDCtx(context_.get(), out.data() + before, size,
                                                       frame.data(), frame.size()) == size;
    if (!sound) {
        out.resize(before);
    }
    return sound;
}

}  // namespace elog
