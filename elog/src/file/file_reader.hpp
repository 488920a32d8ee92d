// SPDX-License-Identifier: MIT
//
// Reading an .elog file, whole, cut off, damaged or made by an enemy. Opening it reads the headers
// of all blocks and the small blocks, or, for a part of the time, what the index says about that
// part; records are read when they are needed.
#pragma once

#include <linux/eventlog.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "file/block_file.hpp"
#include "file/file_format.hpp"
#include "file/index_chain.hpp"
#include "record/clock_converter.hpp"
#include "record/time_merger.hpp"
#include "schema/provider_schema.hpp"

namespace elog {

/// Nanoseconds since 1970, the first one in, the last one out.
struct time_range {
    std::int64_t from = INT64_MIN;
    std::int64_t to = INT64_MAX;

    [[nodiscard]] bool contains(std::int64_t time) const noexcept {
        return from <= time && time < to;
    }
    [[nodiscard]] bool is_everything() const noexcept {
        return from == INT64_MIN && to == INT64_MAX;
    }
};

/// Bytes of all schemas of one file. A recording's come out of a region, which has less room.
inline constexpr std::size_t schemas_size_max = std::size_t{32} << 20U;

/// When the recording began, for who wants to name times by their distance from that; 0 if the file
/// does not say. Throws failure.
[[nodiscard]] std::int64_t recording_start(const std::string& path);

class range_selector;

class file_reader {
  public:
    /// Reads what is in `range` and, if there is a sound index, little else. Throws failure if the
    /// file cannot be opened or is no .elog file at all.
    explicit file_reader(std::string path, time_range range = {});

    /// Gives out every readable record of the range in the order of time, or as many as are enough,
    /// which is asked behind each. Then what follows is not read.
    void read(const time_merger::take_record& take, const std::function<bool()>& is_done = {});
    // In place of read(), for who merges several files: rewind(), then all runs of all rings, then
    // compare_with_end_block(). Of runs at the borders of the range, some records may be outside of
    // it.
    void rewind();
    /// The next run of a ring; nothing behind its last one.
    [[nodiscard]] std::optional<owned_run> next_run(std::uint32_t ring);
    /// Adds to the damages what the end of the file says of more or other records.
    void compare_with_end_block();

    // Of a file that is still being written, besides next_run():
    /// Takes note of what has come since, and of whether it is still being written.
    void refresh();
    /// No record that is still to come is earlier, on the host's clock (see place_of); 0 if that is
    /// not known.
    [[nodiscard]] std::uint64_t watermark() const noexcept {
        return watermarks_.empty() ? 0 : watermarks_.back().clock;
    }
    /// Forgets where the runs stand that have been given out. They would add up in a file that
    /// grows for days.
    void discard_consumed_locations();
    /// On the host's clock, the place of the first record (see place_of), as the first sound block
    /// of each ring says; nothing if there are none. Reads these blocks.
    [[nodiscard]] std::optional<std::uint64_t> earliest();

    [[nodiscard]] const provider_map& providers() const noexcept { return providers_; }
    [[nodiscard]] const clock_converter& clock() const noexcept { return clock_; }
    /// Of the clock's readings, those that convert times in the range, the first and the last.
    [[nodiscard]] std::vector<eventlog_clock_sample> required_clock_readings() const;
    [[nodiscard]] const host_block& host() const noexcept { return host_; }
    [[nodiscard]] std::uint32_t shared_ring() const noexcept { return host_.ring_count - 1; }
    [[nodiscard]] const std::vector<loss_block>& losses() const noexcept { return losses_; }
    [[nodiscard]] const std::optional<end_block>& end() const noexcept { return end_; }
    /// Somebody is writing to it right now: that its last block is not whole means nothing.
    [[nodiscard]] bool is_being_written() const noexcept { return file_.is_being_written(); }
    /// Only the range has been looked at, with the help of the index.
    [[nodiscard]] bool used_index() const noexcept { return used_index_; }

    /// What is kept to find records by that are still to be given out: of a file that is followed
    /// it is bounded by how much that is, however long the file becomes.
    [[nodiscard]] std::size_t retained_locations() const noexcept;

    /// Sentences about what could not be read, with offsets. Complete only after read().
    [[nodiscard]] const std::vector<std::string>& damages() const noexcept {
        return file_.damages().sentences();
    }
    /// How much has been read from the file so far.
    [[nodiscard]] std::uint64_t bytes_read() const noexcept { return file_.bytes_read(); }

  private:
    /// As little as is needed to find it again: there may be many.
    struct records_location {
        std::uint64_t offset = 0;
        std::uint64_t number = 0;
    };
    /// What a clock block says of the records in those behind it, which have larger numbers.
    struct known_watermark {
        std::uint64_t number = 0;
        std::uint64_t clock = 0;
    };

    // With the index, in file_range.cpp.
    [[nodiscard]] bool scan_using_index();
    [[nodiscard]] bool read_hosts();
    [[nodiscard]] bool read_metadata_blocks(const std::vector<listed_block>& blocks,
                                            bool needs_readings);
    [[nodiscard]] bool read_listed_blocks(const index_section& section,
                                          const range_selector& wanted);
    [[nodiscard]] bool read_section_blocks(const index_section& section,
                                           const range_selector& wanted);
    void reset();

    void scan_blocks();
    void read_block(const block_location& place);
    void read_host(const block_location& place, const std::vector<std::uint8_t>& payload);
    void add_watermark(std::uint64_t number, std::uint64_t clock);
    [[nodiscard]] std::uint64_t watermark_at(std::uint64_t number) const noexcept;
    void take_provider(const block_location& place, const std::vector<std::uint8_t>& payload);
    void take_records(const block_location& place);
    [[nodiscard]] std::optional<owned_run> load_run(std::uint32_t ring,
                                                    const records_location& from);
    [[nodiscard]] bool reserve_memory(std::uint32_t ring, const block_location& place);

    block_file file_;
    block_walker walker_{file_, sizeof(file_header), 0};
    time_range range_;
    host_block host_{};
    bool has_host_ = false;
    bool used_index_ = false;
    end_block found_{};  // as read, to be compared with what the end says
    clock_converter clock_;
    std::vector<known_watermark> watermarks_;  // rising
    provider_map providers_;
    std::size_t schema_bytes_ = 0;                        // of all providers
    std::vector<std::vector<records_location>> records_;  // by ring
    std::vector<std::size_t> next_records_;               // by ring
    std::vector<std::size_t> held_;                       // bytes of the run in use, by ring
    std::size_t held_bytes_ = 0;                          // of all rings
    std::vector<loss_block> losses_;
    std::optional<end_block> end_;
};

}  // namespace elog
