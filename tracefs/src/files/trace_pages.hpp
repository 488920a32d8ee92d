// SPDX-License-Identifier: MIT
//
// Iterates over the pages of one CPU in trace.dat, decompressed if necessary.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "files/trace_file.hpp"
#include "files/zstd_stream.hpp"

namespace eventlog::tracefs {

class trace_pages {
  public:
    /// The file and `stream`, which may be shared, must outlive it. Pages are compressed in chunks,
    /// and no chunk may exceed `chunk_size_max` bytes. It holds one chunk and less than one page.
    trace_pages(const recorded_file& file, const trace_buffer& buffer, const trace_cpu& cpu,
                zstd_stream& stream, std::uint32_t chunk_size_max);

    /// The next page, valid until the next call; nothing behind the last one. Throws error if the
    /// rest is invalid and skipped.
    [[nodiscard]] std::optional<std::span<const std::uint8_t>> next();

  private:
    [[nodiscard]] bool read_chunk();
    [[nodiscard]] std::vector<std::uint8_t> take(std::uint64_t size);
    void stop_reading() noexcept;

    const recorded_file& file_;
    std::uint32_t cpu_;
    std::uint32_t page_size_;
    bool is_compressed_;
    zstd_stream& stream_;
    std::uint32_t chunk_size_max_;
    std::uint64_t offset_;
    std::uint64_t end_;
    std::uint32_t chunks_left_ = 0;
    bool has_begun_ = false;
    std::vector<std::uint8_t> content_;  // decompressed data, or a page
    std::size_t content_at_ = 0;
};

}  // namespace eventlog::tracefs
