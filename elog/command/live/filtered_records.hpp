// SPDX-License-Identifier: MIT
//
// The part of a recording that a command line asks for.
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
    std::optional<std::uint64_t> count;  // of events, the first of those; nothing: all

    /// Makes the recording ready to be read, if perf or trace-cmd has made it, and says what of it
    /// cannot be told from what is shown. Before all that reads it. Throws failure.
    void open();
    /// Where it is to be read.
    [[nodiscard]] const std::string& readable_path() const noexcept;
    /// As fail_if_damaged, also about what of it could not be made ready.
    void complain(const file_reader& file, const char* done = "shown") const;

    /// Throws failure or usage_error.
    [[nodiscard]] time_range range() const;
    /// What was lost behind the last records is lost in that time, too.
    [[nodiscard]] bool has_end() const noexcept { return !to; }

  private:
    std::shared_ptr<const input_recording> recording_;
};

struct time_options {
    command_option from;
    command_option to;
};

/// Adds FILE, --from, --where, and what the end of the time is called.
time_options add_selection_options(subcommand& command, record_selection& choice,
                                   const char* end_option);

/// --from, and what the end of the time is called, alone.
time_options add_time_options(subcommand& command, record_selection& choice,
                              const char* end_option);

/// file.read, which at a terminal says how far it is. `output`: what `take` has for standard
/// output.
void read_with_progress(file_reader& file, const record_selection& choice, concurrent_output output,
                        const time_merger::take_record& take,
                        const std::function<bool()>& is_enough = {});

/// In front of a writer: lets the records of a file pass that --where wants, no more than --count
/// allows, and every loss in front of these.
class filtered_records {
  public:
    /// `providers`, which there may be more of when a record comes, and the writer must outlive it.
    /// Who comes while a recording `is_followed` may know the names that --where asks for. Throws
    /// usage_error if the events do not allow what it asks.
    filtered_records(const record_selection& choice, const provider_map& providers,
                     std::uint32_t shared_ring, record_writer& writer, bool is_followed);

    void write(const merged_record& record, const clock_converter& clock);
    /// There are as many as --count allows: nothing passes any more.
    [[nodiscard]] bool is_full() const noexcept { return passed_ == limit_; }
    void flush() { writer_.flush(); }
    /// Behind all records: what was lost at the end, and what the writer has to say.
    void finish(const std::vector<loss_block>& lost_at_end);
    /// Says how many records were left out because --where does not suit their version of an event.
    void print_type_mismatches() const;
    /// Throws usage_error if --where asked for what no event has.
    void check_names() const;

  private:
    [[nodiscard]] bool is_wanted(const record_view& record, const clock_converter& clock);
    void add_provider_to_filter(std::uint16_t id);

    const provider_map& providers_;
    std::uint32_t shared_ring_;
    record_writer& writer_;
    std::unique_ptr<record_filter> filter_;  // nullptr: all are wanted
    std::unordered_set<std::uint16_t> known_to_filter_;
    bool has_end_;  // of the time, as the file has
    std::uint64_t limit_;
    std::uint64_t passed_ = 0;  // events
};

/// The part of a recording that is asked for, read once, from its beginning to its end.
class selected_records {
  public:
    /// Opens the choice, if nobody has. The writer must outlive it. Throws failure or
    /// usage_error.
    selected_records(record_selection choice, record_writer& writer);

    [[nodiscard]] const file_reader& file() const noexcept { return file_; }
    /// Writes all of it, then what the writer has to say. `output`: what of that goes to standard
    /// output.
    void read(concurrent_output output = concurrent_output::nothing);
    /// Afterwards: about what was left out; then see fail_if_damaged.
    void complain(const char* done = "shown") const;

  private:
    record_selection selection_;
    file_reader file_;
    filtered_records wanted_;
};

}  // namespace elog
