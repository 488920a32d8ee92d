// SPDX-License-Identifier: MIT
#include "live/filtered_records.hpp"

#include <utility>

#include "base/user_error.hpp"
#include "cli/complaints.hpp"
#include "cli/damage_check.hpp"
#include "cli/reading_progress.hpp"
#include "cli/time_points.hpp"
#include "live/tracing.hpp"
#include "live/where.hpp"
#include "terminal/diagnostics.hpp"

namespace elog {
namespace {

record_selection opened(record_selection choice) {
    choice.open();
    return choice;
}

}  // namespace

time_options add_selection_options(subcommand& command, record_selection& choice,
                                   const char* end_option) {
    command.add_option("FILE", choice.path, "Recording of elog record, perf record or trace-cmd")
        .required()
        .completes_as(value_kind::file);
    const time_options times = add_time_options(command, choice, end_option);
    command.add_option("--where PREDICATE", choice.where, where_help);
    return times;
}

time_options add_time_options(subcommand& command, record_selection& choice,
                              const char* end_option) {
    const command_option from =
        command.add_option("--from WHEN", choice.from,
                           "From that time on: 14:03:07.5, 2026-11-21T14:03:07, @SECONDS, +10s");
    const command_option to =
        command.add_option(end_option, choice.to, "Only events before that time");
    return {from, to};
}

void read_with_progress(file_reader& file, const record_selection& choice, concurrent_output output,
                        const time_merger::take_record& take,
                        const std::function<bool()>& is_enough) {
    const reading_progress progress(choice.path, choice.from || choice.to, output);
    file.read(take, is_enough);
}

void record_selection::open() {
    if (recording_ != nullptr) {
        return;
    }
    // The whole file is imported, even for a part of its time.
    const reading_progress progress(path, false, concurrent_output::nothing);
    recording_ = std::make_shared<const input_recording>(path, read_published_schemas);
    if (recording_->import_details()) {
        print_complaints(path, recording_->import_details()->notes);
    }
}

const std::string& record_selection::readable_path() const noexcept {
    return recording_ == nullptr ? path : recording_->path();
}

void record_selection::complain(const file_reader& file, const char* done) const {
    if (recording_ != nullptr && recording_->import_details()) {
        fail_if_damaged(*recording_, done);
    }
    fail_if_damaged(file, path, done);
}

time_range record_selection::range() const {
    time_range found;
    if (!from && !to) {
        return found;
    }
    const std::int64_t start = recording_start(readable_path());
    if (from) {
        found.from = parse_time_point(*from, start);
    }
    if (to) {
        found.to = parse_time_point(*to, start);
    }
    return found;
}

filtered_records::filtered_records(const record_selection& choice, const provider_map& providers,
                                   std::uint32_t shared_ring, record_writer& writer,
                                   bool is_followed)
    : providers_(providers),
      shared_ring_(shared_ring),
      writer_(writer),
      filter_(make_file_filter(choice.where, choice.readable_path())),
      has_end_(choice.has_end()),
      limit_(choice.count.value_or(UINT64_MAX)) {
    add_providers(filter_.get(), nullptr, providers, !is_followed);
    for (const auto& [id, provider] : providers) {
        known_to_filter_.insert(id);
    }
}

void filtered_records::write(const merged_record& record, const clock_converter& clock) {
    if (is_full()) {
        return;
    }
    if (is_wanted(record.record, clock)) {
        writer_.write(record, providers_, clock, shared_ring_);
        passed_ += is_supported(record.record.header) ? 1U : 0U;
    } else {
        // A loss is reported in any case, because the lost events are unknown.
        writer_.write_gap(record, shared_ring_);
    }
}

void filtered_records::finish(const std::vector<loss_block>& lost_at_end) {
    // Losses after the last record of a ring are losses at the end.
    if (has_end_ && !is_full()) {
        for (const loss_block& loss : lost_at_end) {
            writer_.write_loss(loss, providers_, shared_ring_);
        }
    }
    writer_.finish();
}

void filtered_records::print_type_mismatches() const {
    elog::print_type_mismatches(filter_.get(), nullptr);
}

void filtered_records::check_names() const {
    elog::check_names(filter_.get(), nullptr);
}

/// Records of a newer version cannot be evaluated. They pass, and the writer counts them.
bool filtered_records::is_wanted(const record_view& record, const clock_converter& clock) {
    if (filter_ == nullptr || !is_supported(record.header)) {
        return true;
    }
    if (known_to_filter_.insert(record.header.provider).second) {
        add_provider_to_filter(record.header.provider);
    }
    return filter_->matches(record, clock);
}

/// For a provider that registered while the file was followed.
void filtered_records::add_provider_to_filter(std::uint16_t id) {
    const auto found = providers_.find(id);
    if (found == providers_.end()) {
        return;
    }
    try {
        filter_->add(found->second);
    } catch (const user_error& error) {
        print_diagnostic("elog: {} The other events are not affected.", error.what());
    }
}

selected_records::selected_records(record_selection choice, record_writer& writer)
    : selection_(opened(std::move(choice))),
      file_(selection_.readable_path(), selection_.range()),
      wanted_(selection_, file_.providers(), file_.shared_ring(), writer, false) {}

void selected_records::read(concurrent_output output) {
    read_with_progress(file_, selection_, output, [this](const merged_record& record) {
        wanted_.write(record, file_.clock());
    });
    wanted_.finish(file_.losses());
}

void selected_records::complain(const char* done) const {
    wanted_.print_type_mismatches();
    selection_.complain(file_, done);
}

}  // namespace elog
