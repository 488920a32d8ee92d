// SPDX-License-Identifier: MIT
//
// Writes an .elog file sequentially. Runs of records are compacted where that makes them smaller.
//
// - Functions that write throw user_error. After a failed write the file ends with
//   its last whole block. A pipe may end in the middle of a block.
// - With a reserve, a part of the disk behind the end stays allocated, so that losses, index and
// end
//   can be written when the disk is full. Pipes and some file systems have no reserve.
// - Owns the descriptor, or a duplicate of the caller's, and the lock that marks the file as being
//   written. One thread uses a writer.
#pragma once

#include <linux/eventlog.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/output.hpp"
#include "base/zstd_frames.hpp"
#include "file/block_output.hpp"
#include "file/file_format.hpp"
#include "file/index_builder.hpp"
#include "file/recording_host.hpp"
#include "file/recording_notes.hpp"
#include "file/run_compactor.hpp"
#include "record/clock_converter.hpp"
#include "record/event_numbers.hpp"
#include "record/loss.hpp"
#include "record/recording_mark.hpp"
#include "record/records.hpp"
#include "schema/provider_schema.hpp"

namespace elog {

struct file_options {
    std::string path;
    std::uint32_t clock = EVENTLOG_CLOCK_MONOTONIC;
    std::uint32_t ring_count = 1;
    std::uint64_t recording = 0;  // see recording_host; 0: a new one is drawn
    std::uint32_t part = 0;
    int compression = 0;  // level; 0: none
    existing_file existing = existing_file::reuse;
    /// An open file, pipe or device to write to; `path` is its name in messages. -1: open `path`.
    int descriptor = -1;
    abort_check should_abort{};  // for a pipe that is not read, see elog::write_all
    bool has_reserve = false;
    std::uint64_t serial = 0;  // see recording_host, as the next one
    std::string command{};
    file_mode mode = private_mode;      // of a file that is created
    replaced_file* replaced = nullptr;  // see output_options, as the next one
    std::function<bool()> wait_for_space{};
};

/// Totals for the end block.
struct file_totals {
    std::uint64_t records = 0;
    std::uint64_t lost = 0;
};

/// A random number that identifies a file or recording. Throws user_error.
[[nodiscard]] std::uint64_t generate_identity();

/// Largest size in a file of the blocks that write_provider writes, with their index entries.
[[nodiscard]] std::uint64_t provider_size_max(const provider_instance& provider) noexcept;

/// Largest size in a file of a loss block with its index entry.
inline constexpr std::uint64_t loss_size_max =
    block_size_in_file(sizeof(loss_block) + 1 + UINT8_MAX) + sizeof(index_entry);

class file_writer {
  public:
    /// Creates, replaces or empties the file and writes header, host and segment. A pipe that is
    /// closed throws output_closed, here and in all functions that write.
    explicit file_writer(file_options options);
    file_writer(std::string path, std::uint32_t clock, std::uint32_t ring_count)
        : file_writer(file_options{std::move(path), clock, ring_count}) {}
    /// The same with an existing host, for a copy.
    file_writer(std::string path, recording_host host);
    file_writer(const file_writer&) = delete;
    file_writer& operator=(const file_writer&) = delete;
    ~file_writer() = default;

    /// `watermark`: no record still to be written is earlier; 0: unknown.
    void write_clock(const eventlog_clock_sample& pair, std::uint64_t watermark = 0);
    void write_offsets(const clock_offsets& offsets);
    /// Keeps the event numbers of a provider of a region, unless they are those of an earlier one.
    void write_provider(const provider_instance& provider);
    /// The run has at most records_size_max bytes.
    void write_run(const record_run& run);
    /// The report of a ring or provider has its total, and replaces an earlier one. Missing names
    /// of a provider are those of the provider that has been written.
    void write_loss(const loss_report& loss);
    void write_notes(const recording_notes& notes);
    void write_mark(const recording_mark& mark);
    /// A note as it is in another file.
    void write_note(note_block note, std::span<const std::uint8_t> body);
    /// The reserve has space for the losses of so many providers, also of such that the file does
    /// not contain.
    void expect_losses(std::size_t providers) noexcept { expected_losses_ = providers; }
    /// From now on uses the reserve: only losses, notes and the end may follow.
    void use_reserve() noexcept;
    /// Writes index and end block, with the totals written or the ones given. Must be the last
    /// write.
    void write_end(end_reason reason = end_reason::regular,
                   std::optional<file_totals> totals = std::nullopt);

    /// After write_end(): waits until the file is on the disk, so that neither a full disk nor a
    /// crash loses it.
    void sync() { output_.sync(); }

    /// Sets the compression level for following blocks; 0: none.
    void compress(int level);
    /// Whether following runs may be compacted, see run_compactor; initially true.
    void allow_compaction(bool is_allowed) noexcept { may_compact_ = is_allowed; }

    [[nodiscard]] output_state state(const std::string& name) const noexcept {
        return output_.state(name);
    }
    /// Throws user_error if another process has removed or truncated the file.
    void check_intact() const { output_.check_intact(); }

    /// Size of the file so far.
    [[nodiscard]] std::uint64_t size() const noexcept { return output_.size(); }
    /// Size of the file after one more block with this payload size, and the end.
    [[nodiscard]] std::uint64_t size_with(std::uint64_t payload) const noexcept;
    /// What has been written.
    [[nodiscard]] const file_totals& totals() const noexcept { return totals_; }
    [[nodiscard]] const std::string& path() const noexcept { return output_.path(); }
    /// A pipe or a device, whose reader may process the blocks as they arrive.
    [[nodiscard]] bool is_stream() const noexcept { return output_.is_stream(); }

  private:
    using bytes = std::span<const std::uint8_t>;
    using process_key =
        std::tuple<std::uint32_t, std::uint32_t, std::uint64_t, std::uint32_t, std::string>;

    void write_header();
    void write_host();
    void write_second_host();
    void write_metadata(block_type type, bytes head, bytes body = {});
    [[nodiscard]] std::uint64_t host_size() const noexcept;
    void write_schema(const provider_schema& schema);
    [[nodiscard]] std::uint32_t write_process(const provider_instance& provider);
    [[nodiscard]] std::uint32_t number_events(const provider_instance& provider);
    /// `head` is never compressed, `body` may be.
    block_header write_block(block_type type, bytes head, bytes body = {});
    void write_index();
    void write_due_blocks();
    [[nodiscard]] std::uint64_t reserve() const noexcept;

    /// Of a provider that has been written.
    struct provider_names {
        std::string provider;
        std::string process;
        std::uint32_t pid = 0;
        std::uint64_t start_time = 0;
    };

    recording_host host_;
    block_output output_;
    int compression_ = 0;
    std::uint32_t identity_ = 0;
    std::optional<frame_compressor> compressor_;
    bool may_compact_ = true;
    run_compactor compactor_;
    index_builder index_;
    file_totals totals_;
    std::unordered_map<std::uint64_t, std::vector<std::uint8_t>> schemas_;  // by hash
    std::map<process_key, std::uint32_t> processes_;
    std::unordered_map<std::uint32_t, provider_names> providers_;
    std::map<std::pair<loss_scope, std::uint32_t>, std::uint64_t> losses_;  // in totals_
    event_numbers events_;                              // of providers that have been written
    std::uint32_t next_event_ = first_number_of_named;  // of the next provider without numbers
    /// A block near the beginning, which is repeated with the second host.
    struct early_block {
        block_type type{};
        std::vector<std::uint8_t> head;
        std::vector<std::uint8_t> body;
    };
    std::vector<early_block> early_;
    std::uint64_t early_size_ = 0;  // in the file, with index entries
    bool has_second_host_ = false;
    bool uses_reserve_ = false;
    std::size_t expected_losses_ = 0;
    std::uint64_t next_block_ = 0;
};

}  // namespace elog
