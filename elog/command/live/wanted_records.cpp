// SPDX-License-Identifier: MIT
#include "live/wanted_records.hpp"

#include <utility>

#include "base/failure.hpp"
#include "cli/file_damage.hpp"
#include "cli/reading_progress.hpp"
#include "cli/time_points.hpp"
#include "live/tracing.hpp"
#include "live/where.hpp"
#include "terminal/tell.hpp"

namespace elog {
namespace {

record_choice opened(record_choice choice) {
    choice.open();
    return choice;
}

}  // namespace

time_options add_choice(subcommand& command, record_choice& choice, const char* end_option) {
    command.add_option("FILE", choice.path, "Recording of elog record, perf record or trace-cmd")
        .required()
        .names_a(value_kind::file);
    const time_options times = add_times(command, choice, end_option);
    command.add_option("--where", choice.where, where_help).value_name("PREDICATE");
    return times;
}

time_options add_times(subcommand& command, record_choice& choice, const char* end_option) {
    const command_option from =
        command
            .add_option("--from", choice.from,
                        "From that time on: 14:03:07.5, 2026-11-21T14:03:07, @SECONDS, +10s")
            .value_name("WHEN");
    const command_option to =
        command.add_option(end_option, choice.to, "Only events before that time")
            .value_name("WHEN");
    return {from, to};
}

void read_with_progress(file_reader& file, const record_choice& choice, meanwhile output,
                        const time_merger::take_record& take,
                        const std::function<bool()>& is_enough) {
    const reading_progress progress(choice.path, choice.from || choice.to, output);
    file.read(take, is_enough);
}

void record_choice::open() {
    if (recording_ != nullptr) {
        return;
    }
    // What of it can be read is all of it, whatever is asked for.
    const reading_progress progress(path, false, meanwhile::nothing);
    recording_ = std::make_shared<const readable_recording>(path, read_published);
    if (recording_->made_of()) {
        for (const std::string& note : recording_->made_of()->notes) {
            tell("elog: {}: {}", path, note);
        }
    }
}

const std::string& record_choice::readable() const noexcept {
    return recording_ == nullptr ? path : recording_->path();
}

void record_choice::complain(const file_reader& file, const char* done) const {
    if (recording_ != nullptr && recording_->made_of()) {
        complain_about_damage(*recording_, done);
    }
    complain_about_damage(file, path, done);
}

time_range record_choice::range() const {
    time_range found;
    if (!from && !to) {
        return found;
    }
    const std::int64_t start = recording_start(readable());
    if (from) {
        found.from = parse_time_point(*from, start);
    }
    if (to) {
        found.to = parse_time_point(*to, start);
    }
    return found;
}

wanted_records::wanted_records(const record_choice& choice, const provider_map& providers,
                               std::uint32_t shared_ring, record_writer& writer, bool is_followed)
    : providers_(providers),
      shared_ring_(shared_ring),
      writer_(writer),
      filter_(make_file_filter(choice.where, choice.readable())),
      has_end_(choice.has_end()),
      limit_(choice.count.value_or(UINT64_MAX)) {
    add_providers(filter_.get(), nullptr, providers, !is_followed);
    for (const auto& [id, provider] : providers) {
        told_.insert(id);
    }
}

void wanted_records::write(const merged_record& record, const clock_table& clock) {
    if (is_full()) {
        return;
    }
    if (is_wanted(record.record, clock)) {
        writer_.write(record, providers_, clock, shared_ring_);
        passed_ += is_understood(record.record.header) ? 1U : 0U;
    } else {
        // Nobody knows what was lost.
        writer_.write_gap(record, shared_ring_);
    }
}

void wanted_records::finish(const std::vector<loss_block>& lost_at_end) {
    // What no record follows was lost at the end.
    if (has_end_ && !is_full()) {
        for (const loss_block& loss : lost_at_end) {
            writer_.write_loss(loss, providers_, shared_ring_);
        }
    }
    writer_.finish();
}

void wanted_records::tell_unsuited() const {
    elog::tell_unsuited(filter_.get(), nullptr);
}

void wanted_records::check_names() const {
    elog::check_names(filter_.get(), nullptr);
}

/// What nobody can compare, because it is not understood, is for the writer to count.
bool wanted_records::is_wanted(const record_view& record, const clock_table& clock) {
    if (filter_ == nullptr || !is_understood(record.header)) {
        return true;
    }
    if (told_.insert(record.header.provider).second) {
        tell_filter(record.header.provider);
    }
    return filter_->matches(record, clock);
}

/// About a provider that came while the file was followed.
void wanted_records::tell_filter(std::uint16_t id) {
    const auto found = providers_.find(id);
    if (found == providers_.end()) {
        return;
    }
    try {
        filter_->add(found->second);
    } catch (const failure& error) {
        tell("elog: {} The other events are not affected.", error.what());
    }
}

chosen_records::chosen_records(record_choice choice, record_writer& writer)
    : choice_(opened(std::move(choice))),
      file_(choice_.readable(), choice_.range()),
      wanted_(choice_, file_.providers(), file_.shared_ring(), writer, false) {}

void chosen_records::read(meanwhile output) {
    read_with_progress(file_, choice_, output, [this](const merged_record& record) {
        wanted_.write(record, file_.clock());
    });
    wanted_.finish(file_.losses());
}

void chosen_records::complain(const char* done) const {
    wanted_.tell_unsuited();
    choice_.complain(file_, done);
}

}  // namespace elog
