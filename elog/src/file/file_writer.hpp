// SPDX-License-Identifier: MIT
//
// Writing an .elog file in one pass. Records are copied as they were in the ring.
#pragma once

#include <linux/eventlog.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/zstd_frames.hpp"
#include "file/file_format.hpp"
#include "file/index_builder.hpp"
#include "platform/unique_fd.hpp"
#include "record/clock_converter.hpp"
#include "record/records.hpp"
#include "schema/provider_schema.hpp"

namespace elog {

struct file_options {
    std::string path;
    std::uint32_t clock = EVENTLOG_CLOCK_MONOTONIC;
    std::uint32_t ring_count = 1;
    std::uint64_t recording = 0;  // see host_block; 0: a new one is drawn
    std::uint32_t part = 0;
    int compression = 0;  // level; 0: none
};

/// What the end of a file says was in it.
struct file_totals {
    std::uint64_t records = 0;
    std::uint64_t lost = 0;
};

/// A number that no other file or recording has. Throws failure.
[[nodiscard]] std::uint64_t generate_identity();

class file_writer {
  public:
    /// Makes or replaces the file and writes header and host. Throws failure, as all others here.
    explicit file_writer(file_options options);
    file_writer(std::string path, std::uint32_t clock, std::uint32_t ring_count)
        : file_writer(file_options{std::move(path), clock, ring_count}) {}
    /// The same with that host block, for a copy; part of the same recording.
    file_writer(std::string path, const host_block& host);

    /// `complete`: no record that is still to come is earlier; 0 if that is not known.
    void write_clock(const eventlog_clock_sample& pair, std::uint64_t watermark = 0);
    void write_offsets(const clock_offsets& offsets);
    void write_provider(const provider_instance& provider);
    /// At most records_size_max bytes.
    void write_run(const record_run& run);
    void write_loss(const loss_block& loss);
    /// Index and end, with what has been written, or those numbers. The last call.
    void write_end(std::optional<file_totals> totals = std::nullopt);

    /// Behind the end: waits until all of it is where a full disk, or a machine that stops, cannot
    /// take it away.
    void sync();

    /// From now on at that level; 0: not at all.
    void compress(int level);

    /// Of the file, so far.
    [[nodiscard]] std::uint64_t size() const noexcept { return complete_size_; }
    /// The file's size if now came a block with that much payload, and then the end.
    [[nodiscard]] std::uint64_t size_with(std::uint64_t payload) const noexcept;
    [[nodiscard]] const std::string& path() const noexcept { return options_.path; }

  private:
    using bytes = std::span<const std::uint8_t>;

    void open();
    void write_header(const host_block& host);
    /// `head` stays as it is, `body` may be compressed.
    block_header write_block(block_type type, bytes head, bytes body = {});
    void write_index();
    void write_index_if_due();
    void write_all(bytes first, bytes second, bytes third, std::size_t padding);

    file_options options_;
    eventlog::core::unique_fd file_;
    std::uint32_t identity_ = 0;
    std::optional<frame_compressor> compressor_;
    index_builder index_;
    file_totals totals_;
    std::uint64_t next_block_ = 0;
    std::uint64_t bytes_written_ = 0;
    std::uint64_t complete_size_ = 0;  // bytes up to the end of the last whole block
};

}  // namespace elog
