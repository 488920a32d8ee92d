// SPDX-License-Identifier: MIT
#include "trace_pages.hpp"

#include <algorithm>
#include <cstring>

#include "error.hpp"

namespace eventlog::tracefs {
namespace {

std::uint32_t number_of(const std::vector<std::uint8_t>& bytes) noexcept {
    std::uint32_t number = 0;
    std::memcpy(&number, bytes.data(), sizeof number);
    return number;
}

}  // namespace

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
    // What they are compressed to follows how many pieces that are, which is not counted.
    const bool has_count =
        is_compressed_ && cpu.size != 0 && end_ <= UINT64_MAX - sizeof chunks_left_;
    end_ += has_count ? sizeof chunks_left_ : 0;
}

std::vector<std::uint8_t> trace_pages::take(std::uint64_t size) {
    if (size > end_ - offset_ || file_.there(offset_, size) < size) {
        give_up();
        throw error("the pages of CPU {} end too early; what follows there is left out", cpu_);
    }
    std::vector<std::uint8_t> bytes = file_.read(offset_, size, size, "a page");
    offset_ += size;
    return bytes;
}

void trace_pages::give_up() noexcept {
    offset_ = end_;
    chunks_left_ = 0;
    has_begun_ = true;
}

/// Some more pages; false behind the last.
bool trace_pages::read_chunk() {
    if (!has_begun_) {
        has_begun_ = true;
        chunks_left_ = offset_ == end_ ? 0 : number_of(take(sizeof chunks_left_));
    }
    if (chunks_left_ == 0) {
        return false;
    }
    --chunks_left_;
    const std::uint32_t size = number_of(take(sizeof size));
    const std::uint32_t limit = std::min(number_of(take(sizeof limit)), chunk_size_max_);
    content_.erase(content_.begin(), content_.begin() + static_cast<std::ptrdiff_t>(content_at_));
    content_at_ = 0;
    stream_.restart();
    if (!stream_.decompress(take(size), limit, content_)) {
        give_up();
        throw error("a piece of the pages of CPU {} cannot be decompressed; what follows there is "
                    "left out",
                    cpu_);
    }
    return true;
}

bool trace_pages::next(std::vector<std::uint8_t>& page) {
    if (!is_compressed_) {
        if (offset_ == end_) {
            return false;
        }
        page = take(std::min<std::uint64_t>(page_size_, end_ - offset_));
        page.resize(page_size_);
        return true;
    }
    while (content_.size() - content_at_ < page_size_) {
        if (!read_chunk()) {
            return false;
        }
    }
    const auto begin = content_.begin() + static_cast<std::ptrdiff_t>(content_at_);
    page.assign(begin, begin + page_size_);
    content_at_ += page_size_;
    return true;
}

}  // namespace eventlog::tracefs
