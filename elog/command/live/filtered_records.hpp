// SPDX-License-Identifier: MIT
//
// Reads the selected part of a recording and filters its records.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_set>
#include <vector>

#include "file/file_reader.hpp"
#include "live/record_selection.hpp"
#include "predicate/record_filter.hpp"
#include "record/record_writer.hpp"
#include "record/recording_mark.hpp"
#include "terminal/progress_line.hpp"

namespace elog {

/// Calls file.read and shows the progress on a terminal. `output`: whether `take` writes to
/// standard output.
void read_with_progress(file_reader& file, const record_selection& choice, concurrent_output output,
                        const time_merger::take_record& take,
                        const std::function<bool()>& is_enough = {});

/// Filters the records of a file before a writer: passes those for which --where is true, of these
/// the first ones (--limit) or the last ones (--tail), and all losses before them.
class filtered_records {
  public:
    /// `providers`, which may grow, and the writer have to outlive this. While a recording
    /// `is_followed`, later providers may have the names of --where. Throws usage_error if the
    /// types of the events do not fit --where.
    filtered_records(const record_selection& choice, const provider_map& providers,
                     std::uint32_t shared_ring, record_writer& writer, bool is_followed);

    /// With --tail, has to precede all writes of the records of `file`: reads it once to count
    /// them. The same reader has to pass them later, because another one of a growing file has
    /// more.
    void skip_to_tail(const record_selection& choice, file_reader& file);
    /// Adds marks, which are written between records.
    void add_marks(const std::vector<recording_mark>& marks);
    void write(const merged_record& record, const clock_converter& clock);
    /// Writes the marks up to that time: no earlier record follows.
    void write_marks(std::uint64_t time, const clock_converter& clock);
    /// --limit is reached: no further record passes.
    [[nodiscard]] bool is_full() const noexcept { return passed_ == limit_; }
    /// Number of events that have passed.
    [[nodiscard]] std::uint64_t passed() const noexcept { return passed_; }
    /// Earliest and latest time of these, on the host's clock. Times of custom clocks have no
    /// order.
    [[nodiscard]] std::uint64_t first_time() const noexcept { return first_time_; }
    [[nodiscard]] std::uint64_t last_time() const noexcept { return last_time_; }
    void flush() { writer_.flush(); }
    /// Writes the marks and losses at the end, and finishes the writer.
    void finish(const std::vector<loss_report>& lost_at_end, const clock_converter& clock);
    /// Reports how many records were left out because --where does not fit their version of an
    /// event.
    void print_type_mismatches() const;
    /// Throws usage_error if --where has a name that no event has.
    void check_names() const;

  private:
    [[nodiscard]] bool is_wanted(const record_view& record, const clock_converter& clock);
    void add_provider_to_filter(std::uint32_t id);

    const provider_map& providers_;
    std::uint32_t shared_ring_;
    record_writer& writer_;
    std::unique_ptr<record_filter> filter_;  // nullptr: all records pass
    std::unordered_set<std::uint32_t> known_to_filter_;
    pending_marks marks_;
    bool has_end_;  // the selected time includes the end
    std::uint64_t limit_;
    std::uint64_t skipped_ = 0;  // events before those of --tail that are still to come
    std::uint64_t passed_ = 0;   // number of events
    std::uint64_t first_time_ = 0;
    std::uint64_t last_time_ = 0;
};

/// The selected part of a recording, read once from beginning to end.
class selected_records {
  public:
    /// Opens the choice if it is not open. The writer has to outlive this. Throws user_error or
    /// usage_error.
    selected_records(record_selection choice, record_writer& writer);

    [[nodiscard]] const file_reader& file() const noexcept { return file_; }
    [[nodiscard]] const filtered_records& filtered() const noexcept { return wanted_; }
    /// Writes all records and finishes the writer. `output`: whether the writer writes to standard
    /// output.
    void read(concurrent_output output = concurrent_output::nothing);
    /// After reading: reports records that were left out, then calls fail_if_damaged.
    void complain(const char* done = "shown") const;

  private:
    record_selection selection_;
    file_reader file_;
    filtered_records wanted_;
};

}  // namespace elog
