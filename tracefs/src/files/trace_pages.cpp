// SPDX-License-Identifier: MIT
#include "files/trace_pages.hpp"

#include <algorithm>

#include "format/byte_reader.hpp"
#include "kernel/error.hpp"

namespace eventlog::tracefs {
trace_pages::trace_pages(const recorded_file& file, const trace_buffer& buffer,
                         const trace_cpu& cpu, zstd_stream& stream, std::uint32_t chunk_size_max)
    : file_(file),
      cpu_(cpu.cpu),
      page_size_(buffer.page_size),
      is_compressed_(buffer.is_compressed),
      stream_(stream),
      chunk_size_max_(chunk_size_max),
      offset_(cpu.offset),
      end_(cpu.offset + std::min(cpu.size, UINT64_MAX - cpu.offset)) {
    // The compressed data starts with the number of chunks, which `size` does not include.
    const bool has_count =
        is_compressed_ && cpu.size != 0 && end_ <= UINT64_MAX - sizeof chunks_left_;
    end_ += has_count ? sizeof chunks_left_ : 0;
}

std::vector<std::uint8_t> trace_pages::take(std::uint64_t size) {
    if (size > end_ - offset_ || file_.available_bytes(offset_, size) < size) {
        stop_reading();
        throw error("the pages of CPU {} end too early; what follows there is left out", cpu_);
    }
    std::vector<std::uint8_t> bytes = file_.read(offset_, size, size, "a page");
    offset_ += size;
    return bytes;
}

void trace_pages::stop_reading() noexcept {
    offset_ = end_;
    chunks_left_ = 0;
    has_begun_ = true;
}

/// Reads another chunk; false behind the last one.
bool trace_pages::read_chunk() {
    if (!has_begun_) {
        has_begun_ = true;
        chunks_left_ = offset_ == end_ ? 0 : value_in<std::uint32_t>(take(sizeof chunks_left_));
    }
    if (chunks_left_ == 0) {
        return false;
    }
    --chunks_left_;
    const auto size = value_in<std::uint32_t>(take(sizeof(std::uint32_t)));
    const std::uint32_t limit =
        std::min(value_in<std::uint32_t>(take(sizeof limit)), chunk_size_max_);
    content_.erase(content_.begin(), content_.begin() + static_cast<std::ptrdiff_t>(content_at_));
    content_at_ = 0;
    // zstd never makes data much larger.
    const bool has_sense = size <= 2 * std::uint64_t{limit} + page_size_;
    stream_.restart();
    if (!has_sense || !stream_.decompress(take(size), limit, content_)) {
        stop_reading();
        throw error("a piece of the pages of CPU {} cannot be decompressed, or becomes more than "
                    "any recording; what follows there is left out",
                    cpu_);
    }
    return true;
}

std::optional<std::span<const std::uint8_t>> trace_pages::next() {
    if (!is_compressed_) {
        if (offset_ == end_) {
            return std::nullopt;
        }
        content_ = take(std::min<std::uint64_t>(page_size_, end_ - offset_));
        content_.resize(page_size_);
        return content_;
    }
    while (content_.size() - content_at_ < page_size_) {
        if (!read_chunk()) {
            return std::nullopt;
        }
    }
    const auto page = std::span<const std::uint8_t>(content_).subspan(content_at_, page_size_);
    content_at_ += page_size_;
    return page;
}

}  // namespace eventlog::tracefs
