// SPDX-License-Identifier: MIT
#include "files/zstd_stream.hpp"

#include <zstd.h>

#include <algorithm>

#include "kernel/error.hpp"

namespace eventlog::tracefs {
namespace {

// Memory for back references: 128 MiB, as levels 20 to 22 need.
constexpr int window_log_max = 27;
constexpr std::uint64_t growth_max = 1024;
constexpr std::size_t piece_size = std::size_t{64} << 10U;

/// Grows geometrically, but not beyond the maximum.
void make_room(std::vector<std::uint8_t>& out, std::size_t size, std::size_t size_max) {
    if (size > out.capacity()) {
        out.reserve(std::min(2 * size, size_max));
    }
}

}  // namespace

void zstd_stream::release::operator()(ZSTD_DCtx_s* context) const noexcept {
    ZSTD_freeDCtx(context);
}

zstd_stream::zstd_stream(std::uint64_t allowed) : context_(ZSTD_createDCtx()), allowed_(allowed) {
    if (context_ == nullptr || ZSTD_isError(ZSTD_DCtx_setParameter(
                                   context_.get(), ZSTD_d_windowLogMax, window_log_max)) != 0) {
        throw error("There is no memory to decompress the file. Free some.");
    }
}

void zstd_stream::restart() {
    ZSTD_DCtx_reset(context_.get(), ZSTD_reset_session_only);
}

bool zstd_stream::decompress(std::span<const std::uint8_t> bytes, std::size_t size_max,
                             std::vector<std::uint8_t>& out) {
    const std::size_t begin = out.size();
    allowed_ += growth_max * bytes.size();
    size_max = std::min<std::uint64_t>(size_max, allowed_);
    ZSTD_inBuffer from{bytes.data(), bytes.size(), 0};
    while (true) {
        const std::size_t old = out.size();
        const std::size_t room = std::min(piece_size, size_max - (old - begin));
        // One byte more than permitted shows that the output is too large.
        make_room(out, old + room + 1, begin + size_max + 1);
        out.resize(old + room + 1);
        ZSTD_outBuffer to{out.data() + old, room + 1, 0};
        const std::size_t result = ZSTD_decompressStream(context_.get(), &to, &from);
        out.resize(old + to.pos);
        if (ZSTD_isError(result) != 0 || out.size() - begin > size_max) {
            out.resize(begin);
            return false;
        }
        if (to.pos <= room && from.pos == from.size) {
            allowed_ -= out.size() - begin;
            return true;
        }
    }
}

}  // namespace eventlog::tracefs
