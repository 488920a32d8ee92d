// SPDX-License-Identifier: MIT
//
// Writes an .elog file sequentially. The bytes of records are written as they were in the ring.
//
// - Functions that write throw user_error. After a failed write the file ends with
//   its last whole block. A pipe may end in the middle of a block.
// - Owns the descriptor, or a duplicate of the caller's, and the lock that marks the file as being
//   written. One thread uses a writer.
#pragma once

#include <linux/eventlog.h>
#include <sys/uio.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/output.hpp"
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
    int compression = 0;       // level; 0: none
    bool must_be_new = false;  // reject an existing file
    /// An open file, pipe or device to write to; `path` is its name in messages. -1: open `path`.
    int descriptor = -1;
    abort_check should_abort{};  // for a pipe that is not read, see elog::write_all
};

/// Totals for the end block.
struct file_totals {
    std::uint64_t records = 0;
    std::uint64_t lost = 0;
};

/// A random number that identifies a file or recording. Throws user_error.
[[nodiscard]] std::uint64_t generate_identity();

/// A host block for records of this machine, without `recording` and `part`.
[[nodiscard]] host_block this_host(std::uint32_t clock, std::uint32_t ring_count);

class file_writer {
  public:
    /// Creates or replaces the file and writes the header and host blocks. A pipe that is closed
    /// throws output_closed, here and in all functions that write.
    explicit file_writer(file_options options);
    file_writer(std::string path, std::uint32_t clock, std::uint32_t ring_count)
        : file_writer(file_options{std::move(path), clock, ring_count}) {}
    /// The same with an existing host block, for a copy within the same recording.
    file_writer(std::string path, const host_block& host);
    file_writer(const file_writer&) = delete;
    file_writer& operator=(const file_writer&) = delete;
    ~file_writer();

    /// `watermark`: no record still to be written is earlier; 0: unknown.
    void write_clock(const eventlog_clock_sample& pair, std::uint64_t watermark = 0);
    void write_offsets(const clock_offsets& offsets);
    void write_provider(const provider_instance& provider);
    /// The run has at most records_size_max bytes.
    void write_run(const record_run& run);
    void write_loss(const loss_block& loss);
    /// Writes index and end block, with the totals written or the ones given. Must be the last
    /// write.
    void write_end(std::optional<file_totals> totals = std::nullopt);

    /// After write_end(): waits until the file is on the disk, so that neither a full disk nor a
    /// crash loses it.
    void sync();

    /// Sets the compression level for following blocks; 0: none.
    void compress(int level);

    /// Size of the file so far.
    [[nodiscard]] std::uint64_t size() const noexcept { return complete_size_; }
    /// Size of the file after one more block with this payload size, and the end.
    [[nodiscard]] std::uint64_t size_with(std::uint64_t payload) const noexcept;
    [[nodiscard]] const std::string& path() const noexcept { return options_.path; }

  private:
    using bytes = std::span<const std::uint8_t>;

    void open();
    void open_descriptor();
    void lock();
    void write_header(const host_block& host);
    /// `head` is never compressed, `body` may be.
    block_header write_block(block_type type, bytes head, bytes body = {});
    void write_index();
    void write_index_if_due();
    void write_all(bytes first, bytes second, bytes third, std::size_t padding);
    void write_parts(std::span<iovec> parts);

    file_options options_;
    eventlog::core::unique_fd file_;
    bool is_regular_ = true;  // false: a pipe or a device
    std::uint32_t identity_ = 0;
    std::optional<frame_compressor> compressor_;
    index_builder index_;
    file_totals totals_;
    std::uint64_t next_block_ = 0;
    std::uint64_t bytes_written_ = 0;
    std::uint64_t complete_size_ = 0;  // up to the end of the last whole block
};

}  // namespace elog
