// SPDX-License-Identifier: MIT
//
// Reads an .elog file and interprets its blocks.
//
// - Input may be complete, cut off, damaged or hostile; memory is bounded (schemas_size_max, merged
//   runs, 24 bytes for each block).
// - The constructor reads the headers of all blocks and the small blocks; for a range of time, only
//   the blocks that the index lists for it. Records are loaded on demand.
// - One thread uses a reader.
#pragma once

#include <linux/eventlog.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "file/block_file.hpp"
#include "file/file_format.hpp"
#include "file/index_chain.hpp"
#include "file/loss_table.hpp"
#include "file/recording_host.hpp"
#include "file/recording_notes.hpp"
#include "file/records_decoder.hpp"
#include "record/clock_converter.hpp"
#include "record/display_clock.hpp"
#include "record/recording_mark.hpp"
#include "record/time_merger.hpp"
#include "schema/provider_schema.hpp"

namespace elog {

/// Nanoseconds on a clock, as of to_display_time: the first one in the range, the first one after
/// it. Not ticks of the recording: CLOCK_REALTIME and CLOCK_TAI may have been set back.
struct time_range {
    std::int64_t from = INT64_MIN;
    std::int64_t to = INT64_MAX;
    display_clock clock = display_clock::realtime;

    [[nodiscard]] bool contains(std::int64_t time) const noexcept {
        return from <= time && time < to;
    }
    [[nodiscard]] bool is_everything() const noexcept {
        return from == INT64_MIN && to == INT64_MAX;
    }
};

/// Largest total size of the schemas of one file, and of those of its providers together. Schemas
/// of a recording come from a region, which has less space.
inline constexpr std::size_t schemas_size_max = std::size_t{32} << 20U;

/// Start of the recording in nanoseconds since 1970; 0 if the file does not contain it. A copy of
/// other recordings starts with its first record. Throws user_error.
[[nodiscard]] std::int64_t recording_start(const std::string& path);

/// What happens to a file without a valid segment; see deduce_recording_host.
enum class missing_segment : bool { reject, deduce };

struct range_hints;
class range_selector;

class file_reader {
  public:
    /// Reads the blocks of `range`, and little else if the index is valid. Throws user_error if the
    /// file cannot be opened or is no .elog file. Functions that need times of the range throw
    /// user_error if the recording has no offsets of its clock.
    explicit file_reader(std::string path, time_range range = {}, growth_check is_growing = {},
                         missing_segment missing = missing_segment::reject);

    /// Passes every readable record of the range to `take`, in the order of time. Stops when
    /// `is_done`, called after each record, returns true. Each call passes the same records.
    void read(const time_merger::take_record& take, const std::function<bool()>& is_done = {});
    // For merging several files, instead of read(): rewind(), then all runs of all rings, then
    // compare_with_end_block(). Runs at the borders of the range may contain records outside of it.
    void rewind();
    /// The next run of a ring; nullopt after the last one.
    [[nodiscard]] std::optional<owned_run> next_run(std::uint32_t ring);
    /// Reports a difference between the records read and the totals in the end block, once: the
    /// report itself counts as damage, which a second comparison would mention.
    void compare_with_end_block();

    // For a file that is still being written, with next_run():
    /// Scans the blocks that were appended since, and tests whether it is still being written.
    void refresh();
    /// No future record is earlier, on the host's clock (see order_time_of); 0 if unknown.
    [[nodiscard]] std::uint64_t watermark() const noexcept {
        return watermarks_.empty() ? 0 : watermarks_.back().clock;
    }
    /// Forgets the locations of consumed runs. Without this, memory would grow with the file.
    void discard_consumed_locations();
    /// No earlier part of the file will be read by refresh() and next_run(). Complete after
    /// discard_consumed_locations().
    [[nodiscard]] std::uint64_t first_unread() const noexcept;
    /// The position of the first record on the host's clock (see order_time_of), from the first
    /// valid block of each ring; nullopt without records. Reads these blocks.
    [[nodiscard]] std::optional<std::uint64_t> earliest();

    [[nodiscard]] const provider_map& providers() const noexcept { return providers_; }
    /// Decodes blocks of records, also of providers whose schemas are missing.
    [[nodiscard]] const records_decoder& decoder() const noexcept { return decoder_; }
    [[nodiscard]] const clock_converter& clock() const noexcept { return clock_; }
    /// The clock readings that convert times of the range and of marks(), and the first and last
    /// one.
    [[nodiscard]] std::vector<eventlog_clock_sample> required_clock_readings() const;
    [[nodiscard]] const recording_host& host() const noexcept { return host_; }
    [[nodiscard]] std::uint32_t shared_ring() const noexcept { return host_.ring_count - 1; }
    [[nodiscard]] const std::vector<loss_report>& losses() const noexcept { return losses_.all(); }
    [[nodiscard]] const recording_notes& notes() const noexcept { return notes_; }
    /// Begins and ends of the pauses that overlap the range, in order.
    [[nodiscard]] std::vector<recording_mark> marks() const;
    /// Moves out those of the whole file that were found since the last call, in the file's order.
    [[nodiscard]] std::vector<recording_mark> take_marks() { return std::exchange(marks_, {}); }
    [[nodiscard]] const std::optional<end_block>& end() const noexcept { return end_; }
    /// See block_file.
    [[nodiscard]] bool is_being_written() const noexcept { return file_.is_being_written(); }
    /// Number of blocks that were left out because a newer version has written them. Complete only
    /// after read().
    [[nodiscard]] std::uint64_t skipped() const noexcept {
        return other_types_ + unreadable_ + undecoded_;
    }
    /// Only the range was read, through the index.
    [[nodiscard]] bool used_index() const noexcept { return used_index_; }

    /// Number of locations and watermarks in memory. In a followed file it is bounded by the amount
    /// of unread data, not by the file's size.
    [[nodiscard]] std::size_t retained_locations() const noexcept;

    /// Messages about unreadable data, with offsets. Complete only after read().
    [[nodiscard]] const std::vector<std::string>& damages() const noexcept {
        return file_.damages().sentences();
    }
    /// Number of records that read() has passed.
    [[nodiscard]] std::uint64_t passed() const noexcept { return passed_; }
    /// Bytes read from the file so far.
    [[nodiscard]] std::uint64_t bytes_read() const noexcept { return file_.bytes_read(); }

  private:
    /// Small, because there may be one for each block.
    struct records_location {
        std::uint64_t offset = 0;
        std::uint64_t number = 0;
    };
    /// The watermark of a clock block. It applies to the blocks behind it.
    struct known_watermark {
        std::uint64_t offset = 0;
        std::uint64_t clock = 0;
    };

    // The functions in file_range.cpp, which use the index.
    [[nodiscard]] std::int64_t time_in_range(std::uint64_t time) const;
    [[nodiscard]] std::optional<range_hints> find_hints(const std::vector<index_section>& sections);
    [[nodiscard]] bool add_hint(const listed_block& listed, range_hints& hints);
    void report_wrong_index(const index_section& section);
    [[nodiscard]] bool scan_using_index();
    [[nodiscard]] bool read_metadata_blocks(const std::vector<listed_block>& blocks,
                                            bool needs_readings);
    [[nodiscard]] bool is_where_listed(const listed_block& listed);
    [[nodiscard]] bool read_listed_blocks(const index_section& section,
                                          const range_selector& wanted);
    [[nodiscard]] bool read_section_blocks(const index_section& section,
                                           const range_selector& wanted);
    [[nodiscard]] bool lacks_readings(const std::vector<index_section>& sections,
                                      const range_selector& wanted);
    void reset();

    [[nodiscard]] bool is_readable(const block_location& place) noexcept;
    void scan_blocks();
    void read_block(const block_location& place);
    void add_watermark(std::uint64_t offset, std::uint64_t clock);
    [[nodiscard]] std::uint64_t watermark_at(std::uint64_t offset) const noexcept;
    void take_schema(const block_location& place, std::span<const std::uint8_t> payload);
    void take_process(const block_location& place, std::span<const std::uint8_t> payload);
    void take_provider(const block_location& place, std::span<const std::uint8_t> payload);
    void take_note(std::span<const std::uint8_t> payload);
    void take_records(const block_location& place);
    [[nodiscard]] bool add_rings(std::uint32_t ring);
    [[nodiscard]] std::optional<owned_run> load_run(std::uint32_t ring,
                                                    const records_location& from);
    [[nodiscard]] bool reserve_memory(std::uint32_t ring, const block_location& place);
    void release_memory(std::uint32_t ring, std::size_t size) noexcept;

    block_file file_;
    block_walker walker_{file_, sizeof(file_header), 0};
    time_range range_;
    recording_host host_;
    bool used_index_ = false;
    bool may_add_rings_ = true;
    std::uint64_t passed_ = 0;  // see passed()
    // Blocks of a newer version: of unknown types; with unknown flags; with unknown encodings.
    std::uint64_t other_types_ = 0;
    std::uint64_t unreadable_ = 0;
    std::uint64_t undecoded_ = 0;
    end_block found_{};  // totals of the records read, for comparison with the end block
    clock_converter clock_;
    std::vector<known_watermark> watermarks_;  // increasing
    provider_map providers_;
    std::unordered_map<std::uint64_t, provider_schema> schemas_;         // by hash
    std::unordered_map<std::uint32_t, process_block> processes_;         // by id
    std::unordered_map<std::uint16_t, provider_block> provider_blocks_;  // of providers_
    std::size_t schema_bytes_ = 0;                                       // of schemas_
    std::size_t provider_bytes_ = 0;                      // of the schemas of providers_
    std::vector<std::vector<records_location>> records_;  // by ring
    std::vector<std::size_t> next_records_;               // by ring
    std::vector<std::uint64_t> next_numbers_;             // by ring, of the next record
    std::vector<std::size_t> held_;                       // bytes of the run in use, by ring
    std::size_t held_bytes_ = 0;                          // of all rings
    records_decoder decoder_;
    loss_table losses_;
    recording_notes notes_;
    std::vector<recording_mark> marks_;
    std::optional<end_block> end_;
    bool is_compared_ = false;  // see compare_with_end_block()
};

}  // namespace elog
