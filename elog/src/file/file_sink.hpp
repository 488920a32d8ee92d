// SPDX-License-Identifier: MIT
//
// Writes a recording into one .elog file or a sequence of rotated files (`elog record -o`).
//
// - Implements record_sink: calls arrive from one thread in the order documented there.
// - Owns the writer of the current file. Limits on size, time and number of files are never
//   exceeded.
// - A file that another process removes or truncates is noticed within a second, by check().
// - A pipe gets a clock reading soon after records, because its reader shows records up to the
//   reading's watermark.
#pragma once

#include <bitset>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/output.hpp"
#include "file/file_writer.hpp"
#include "file/loss_table.hpp"
#include "file/recording_notes.hpp"
#include "file/rotated_files.hpp"
#include "record/clock_converter.hpp"
#include "record/record_sink.hpp"
#include "record/ring_records.hpp"
#include "record/run_coalescer.hpp"

namespace elog {

/// When to start a new file, and how many to keep. Default: one file.
struct rotation_options {
    static constexpr std::uint64_t size_min = std::uint64_t{1} << 20U;

    std::uint64_t size = 0;            // largest size of one file; 0: unlimited. At least size_min
    std::chrono::nanoseconds time{0};  // longest time for one file; 0: unlimited
    std::uint64_t keep = 0;            // most files, including the current one; 0: unlimited
    std::uint64_t total = 0;           // largest total size; 0: unlimited. At least 4 * size_min

    [[nodiscard]] bool is_wanted() const noexcept {
        return size != 0 || time.count() != 0 || total != 0;
    }
};

/// A recording that was ended by a full disk, or by the limit on the size of a file; or that
/// continued in a new file after one was removed or truncated, with its records.
struct incomplete_recording {
    // What has ended it, and what to do; whole sentences. Empty: nothing has.
    std::string message;
    std::vector<unwritten_records> unwritten;  // by ring
};

/// The message with the number of events that did not reach the file.
[[nodiscard]] inline user_error error_of(const incomplete_recording& incomplete) {
    std::uint64_t count = 0;
    for (const unwritten_records& ring : incomplete.unwritten) {
        count += ring.count;
    }
    return user_error("{} {} events did not reach it.", incomplete.message, count);
}

struct file_sink_options {
    std::string path;
    int compression = 0;  // level; 0: none
    rotation_options rotation{};
    bool sync_on_close = false;  // sync a file to the disk when it is finished
    /// Not with rotation, which finds new names.
    existing_file existing = existing_file::reuse;
    /// An open file or pipe to write to, without rotation; `path` is its name in messages. -1: the
    /// path.
    int descriptor = -1;
    abort_check should_abort{};   // see file_options
    std::string command{};        // see recording_host
    std::uint64_t recording = 0;  // the same; 0: a new one is drawn
    /// Called when the recording continues in a new file of the same name, because the previous one
    /// was moved, removed or truncated, with the number of its records. Without it, a file that was
    /// removed or truncated is an error. For one file with a name.
    std::function<void(output_state, std::uint64_t)> on_reopen{};
    /// Called by finish().
    std::function<recording_notes()> notes{};
    /// Called once, when the disk is full: the recording should end. Until it does, its records are
    /// counted as lost.
    std::function<void()> on_disk_full{};
    /// Called by finish() after that, instead of throwing error_of() the report; and if records are
    /// gone with a file that was removed or truncated.
    std::function<void(incomplete_recording)> on_incomplete{};
    file_mode mode = private_mode;      // of files that are created
    replaced_file* replaced = nullptr;  // see output_options; until start() has returned
    /// As in output_options, for files that were removed outside of the rotation.
    std::function<bool()> wait_for_space{};
};

/// Keeps the order in which records are read; the records of one ring may be delayed to form larger
/// blocks. When the disk is full, the file is ended in its reserve, if it has one, with the number
/// of records that did not reach it; then finish() throws user_error. The last file of a rotated
/// recording has that number also when there is no space for another file.
class file_sink : public record_sink {
  public:
    explicit file_sink(file_sink_options options) : options_(std::move(options)) {}

    void start(const region_view& source) override;
    void take_clock(const eventlog_clock_sample& pair) override;
    void take_provider(const provider_instance& provider) override;
    void take_run(const record_run& run) override;
    void take_loss(const loss_report& loss) override;
    void note_loss(const loss_report& loss) override;
    void take_mark(const recording_mark& mark) override;
    void advance(std::uint64_t time, std::uint64_t present) override;
    void check() override;
    void finish() override;

    /// Of the current file, from start() to finish().
    [[nodiscard]] const std::string& path() const noexcept { return writer_->path(); }

  private:
    using clock = run_coalescer::clock;

    void begin_file(std::unique_ptr<file_writer> writer);
    [[nodiscard]] std::unique_ptr<file_writer> make_file(const std::string& path,
                                                         existing_file existing);
    bool wait_for_space();
    [[nodiscard]] std::unique_ptr<file_writer> make_part();
    [[nodiscard]] std::unique_ptr<file_writer> make_writer();
    [[nodiscard]] std::unique_ptr<file_writer> end_before(const file_writer& next);
    std::unique_ptr<file_writer> end_file(end_reason reason = end_reason::regular);
    template <class Write>
    void write(const Write& write);
    void write_ring_loss(const loss_report& loss);
    void end_on_full_disk();
    void add_present_reading();
    void continue_in(std::unique_ptr<file_writer> next);
    void rotate();
    void reopen_if_lost();
    void write_pending();
    void advance_stream(std::uint64_t time, std::uint64_t present, clock::duration interval);
    void make_room(std::uint64_t payload);
    void write_run(const record_run& run);
    void write_run_to_file(const record_run& run);
    [[nodiscard]] std::vector<const provider_instance*> unwritten_providers(
        const record_run& run) const;
    void write_provider(const provider_instance& provider);
    void flush(clock::time_point kept_since = clock::time_point::max()) {
        coalescer_->flush(kept_since, [this](const record_run& batch) { write_run(batch); });
    }

    file_sink_options options_;
    std::uint32_t clock_ = 0;
    std::uint32_t ring_count_ = 0;
    std::uint64_t serial_ = 0;  // of the region
    std::uint64_t recording_ = 0;
    std::uint32_t part_ = 0;
    std::optional<rotated_files> parts_;  // only with rotation
    std::unique_ptr<file_writer> writer_;
    std::optional<run_coalescer> coalescer_;
    std::uint64_t watermark_ = 0;                  // no record still to be received is earlier
    std::uint64_t written_watermark_ = 0;          // no record still to be written is earlier
    std::vector<eventlog_clock_sample> readings_;  // readings that later records may need
    std::optional<clock_offsets> offsets_;         // the last ones written
    provider_map providers_;
    loss_table provider_losses_;  // so far; each file has all of them
    // The records are those of the whole recording. The losses are those of rings that this file
    // has, or gets at its end if the disk is full; also the losses behind the last records.
    missing_runs missing_;
    missing_runs in_file_;                  // if the recording may continue behind this file
    std::optional<std::string> disk_full_;  // the message
    end_reason full_reason_ = end_reason::disk_full;
    std::vector<recording_mark> unwritten_marks_;   // since the disk is full
    std::optional<recording_mark> pause_;           // if it goes on; each file has it
    std::bitset<record_provider_max + 1> written_;  // providers in this file
    clock::time_point started_;                     // of this file
    clock::time_point checked_at_;                  // when it was last found intact
    clock::time_point read_clock_at_;               // by advance_stream()
    std::uint64_t unread_until_ =
        0;                       // records of a pipe up to here need a later watermark; 0: none
    bool has_new_runs_ = false;  // since unread_until_ was set
    bool has_records_ = false;   // this file
};

}  // namespace elog
