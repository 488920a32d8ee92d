// SPDX-License-Identifier: MIT
#include "live/record_selection.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/core.h>

#include "cli/complaints.hpp"
#include "cli/damage_check.hpp"
#include "cli/reading_progress.hpp"
#include "live/where.hpp"
#include "memory/running_providers.hpp"
#include "terminal/diagnostics.hpp"

namespace elog {
namespace {

constexpr int events_max = 1'000'000'000;

/// "between A and B" in the words of the command line.
std::string describe_range(const time_arguments& times) {
    if (times.since && times.until) {
        return fmt::format("between {} and {}", *times.since, *times.until);
    }
    return times.since ? fmt::format("at or after {}", *times.since)
                       : fmt::format("before {}", *times.until);
}

/// First and last time of a recording, on its host's clock.
struct recording_span {
    std::uint64_t first = UINT64_MAX;
    std::uint64_t last = 0;
};

/// From the clock readings, which a recording of elog has before and after its records, or, if
/// there are less than two, from the records. Without records, `first` is larger than `last`.
recording_span span_of(const file_reader& file, const std::string& path) {
    const std::vector<eventlog_clock_sample>& readings = file.clock().pairs();
    if (readings.size() > 1) {
        return {readings.front().clock, readings.back().clock};
    }
    recording_span found;
    file_reader(path).read([&](const merged_record& record) {
        found.first = std::min<std::uint64_t>(found.first, record.record.time);
        found.last = std::max<std::uint64_t>(found.last, record.record.time);
    });
    return found;
}

}  // namespace

void record_selection::open(pipe_copy extent) {
    if (recording_ != nullptr) {
        return;
    }
    // The whole file is imported, even for a part of its time.
    const reading_progress progress(path, false, concurrent_output::nothing);
    recording_ = std::make_shared<input_recording>(path, read_published_schemas, extent);
    if (recording_->import_details()) {
        print_complaints(recording_->name(), recording_->import_details()->notes);
    }
}

const std::string& record_selection::readable_path() const noexcept {
    return recording_ == nullptr ? path : recording_->path();
}

const std::string& record_selection::name() const noexcept {
    if (!shown_name.empty()) {
        return shown_name;
    }
    return recording_ == nullptr ? path : recording_->name();
}

void record_selection::report_empty_range(const file_reader& file) const {
    const recording_span span = span_of(file, readable_path());
    if (span.first > span.last) {
        print_diagnostic("elog: The recording {} has no events.", name());
        return;
    }
    print_diagnostic("elog: No event is {}: the recording {} is from {} to {}.",
                     describe_range(times), name(),
                     format_time_point(times, file.clock(), span.first),
                     format_time_point(times, file.clock(), span.last));
}

void record_selection::complain(const file_reader& file, const char* done) const {
    if (times.has_range() && file.passed() == 0) {
        report_empty_range(file);
    }
    if (recording_ != nullptr && recording_->import_details()) {
        fail_if_damaged(*recording_, done);
    }
    fail_if_damaged(file, name(), done);
}

command_option add_input_argument(subcommand& command, std::string& path) {
    return command
        .add_option("FILE", path, "Recording of elog, perf or trace-cmd; - is standard input")
        .completes_as(value_kind::file);
}

command_option add_limit_option(subcommand& command, std::optional<std::uint64_t>& limit,
                                const char* description) {
    return command.add_option("--limit NUMBER", limit, description).range(1, events_max);
}

selection_options add_selection_options(subcommand& command, record_selection& choice) {
    add_input_argument(command, choice.path).required();
    return add_part_options(command, choice);
}

selection_options add_part_options(subcommand& command, record_selection& choice) {
    const time_options times = add_time_options(command, choice.times);
    command.add_option("--where PREDICATE", choice.where, where_help);
    const command_option limit = add_limit_option(command, choice.limit);
    const command_option tail =
        command.add_option("--tail NUMBER", choice.tail, "Only that many events, the last ones")
            .range(1, events_max)
            .excludes(limit);
    return {times.since, times.until, tail};
}

}  // namespace elog
