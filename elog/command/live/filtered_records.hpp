// SPDX-License-Identifier: MIT
//
// The selected part of a recording: --from, --to, --where and --count.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "cli/command_line.hpp"
#include "file/file_reader.hpp"
#include "import/input_recording.hpp"
#include "predicate/record_filter.hpp"
#include "record/record_writer.hpp"
#include "terminal/progress_line.hpp"

namespace elog {

struct record_selection {
    std::string path;
    std::optional<std::string> from;
    std::optional<std::string> to;
    std::optional<std::string> where;
    std::optional<std::uint64_t> count;  // number of the first events; nothing: all

    /// Imports a recording of perf or trace-cmd, and reports what is not in its events. Has to
    /// precede all reading. Throws user_error.
    void open();
    /// The path of the readable file.
    [[nodiscard]] const std::string& readable_path() const noexcept;
    /// Calls fail_if_damaged, also for the parts that could not be imported.
    void complain(const file_reader& file, const char* done = "shown") const;

    /// Throws user_error or usage_error.
    [[nodiscard]] time_range range() const;
    /// Losses after the last record count only if the selected time includes the end.
    [[nodiscard]] bool has_end() const noexcept { return !to; }

  private:
    std::shared_ptr<const input_recording> recording_;
};

struct time_options {
    command_option from;
    command_option to;
};

/// Adds FILE, --from, --where and the option for the end of the time.
time_options add_selection_options(subcommand& command, record_selection& choice,
                                   const char* end_option = "--to,--until WHEN");

/// Adds only --from and the option for the end of the time.
time_options add_time_options(subcommand& command, record_selection& choice,
                              const char* end_option = "--to,--until WHEN");

/// Calls file.read and shows the progress on a terminal. `output`: whether `take` writes to
/// standard output.
void read_with_progress(file_reader& file, const record_selection& choice, concurrent_output output,
                        const time_merger::take_record& take,
                        const std::function<bool()>& is_enough = {});

/// Filters the records of a file before a writer: passes those for which --where is true, up to
/// --count, and all losses before them.
class filtered_records {
  public:
    /// `providers`, which may grow, and the writer have to outlive this. While a recording
    /// `is_followed`, later providers may have the names of --where. Throws usage_error if the
    /// types of the events do not fit --where.
    filtered_records(const record_selection& choice, const provider_map& providers,
                     std::uint32_t shared_ring, record_writer& writer, bool is_followed);

    void write(const merged_record& record, const clock_converter& clock);
    /// --count is reached: no further record passes.
    [[nodiscard]] bool is_full() const noexcept { return passed_ == limit_; }
    void flush() { writer_.flush(); }
    /// Writes the losses at the end, and finishes the writer.
    void finish(const std::vector<loss_block>& lost_at_end);
    /// Reports how many records were left out because --where does not fit their version of an
    /// event.
    void print_type_mismatches() const;
    /// Throws usage_error if --where has a name that no event has.
    void check_names() const;

  private:
    [[nodiscard]] bool is_wanted(const record_view& record, const clock_converter& clock);
    void add_provider_to_filter(std::uint16_t id);

    const provider_map& providers_;
    std::uint32_t shared_ring_;
    record_writer& writer_;
    std::unique_ptr<record_filter> filter_;  // nullptr: all records pass
    std::unordered_set<std::uint16_t> known_to_filter_;
    bool has_end_;  // the selected time includes the end
    std::uint64_t limit_;
    std::uint64_t passed_ = 0;  // number of events
};

/// The selected part of a recording, read once from beginning to end.
class selected_records {
  public:
    /// Opens the choice if it is not open. The writer has to outlive this. Throws user_error or
    /// usage_error.
    selected_records(record_selection choice, record_writer& writer);

    [[nodiscard]] const file_reader& file() const noexcept { return file_; }
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
