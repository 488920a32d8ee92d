// SPDX-License-Identifier: MIT
#include "file_source.hpp"

#include <utility>

#include <fmt/core.h>

#include "memory/running_providers.hpp"

namespace elog::library {
namespace {

wanted_events::options wanted_of(const open_options& options, const std::string& path) {
    return {options.where, options.fields, options.where.empty() ? 0 : recording_start(path)};
}

time_range range_of(const open_options& options) {
    time_range range;
    if (options.from) {
        range.from = options.from->time_since_epoch().count();
    }
    if (options.to) {
        range.to = options.to->time_since_epoch().count();
    }
    return range;
}

}  // namespace

file_source::file_source(const std::string& path, open_options options)
    : file_source(std::make_unique<input_recording>(path, read_published_schemas),
                  std::move(options)) {}

file_source::file_source(std::unique_ptr<input_recording> input, open_options options)
    : single_source(wanted_of(options, input->path()), std::move(options.on_loss)),
      input_(std::move(input)),
      range_(range_of(options)),
      file_(input_->path(), range_),
      merger_(file_.host().ring_count,
              [this](std::uint32_t ring) { return file_.next_run(ring); }) {
    place.clock = &file_.clock();
    place.providers = &file_.providers();
    place.shared_ring = file_.shared_ring();
    add_providers();
    known_events.check_names();
    file_.rewind();
    merger_.begin(UINT64_MAX, UINT64_MAX);
}

void file_source::add_providers() {
    std::optional<user_error> mistake;
    for (const auto& [id, provider] : file_.providers()) {
        const std::optional<user_error> found = add_provider(provider);
        mistake = mistake ? mistake : found;
    }
    // Without any matching event this is an error: a source without records would hardly be
    // noticed, nor would its complaints.
    if (mistake && !known_events.may_want_any()) {
        throw user_error(*mistake);
    }
}

std::optional<record> file_source::next() {
    if (std::optional<record> kept = take_pending()) {
        return kept;
    }
    while (!is_over_) {
        const std::optional<merged_record> merged = merger_.next();
        if (!merged) {
            finish();
            std::optional<record> none = take_pending();
            is_over_ = true;
            return none;
        }
        const bool is_in_range =
            range_.is_everything() || range_.contains(place.clock->realtime(merged->record.time));
        if (!is_in_range) {
            continue;
        }
        if (std::optional<record> found = select_record(*merged)) {
            return found;
        }
    }
    return std::nullopt;
}

source_totals file_source::totals() const noexcept {
    source_totals now = single_source::totals();
    if (const std::optional<sampling_report>& omitted = file_.notes().omitted) {
        now.omitted_by_sampling = omitted->by_sampling;
        now.omitted_by_rate = omitted->by_rate;
    }
    return now;
}

std::vector<std::string> file_source::complaints() const {
    std::vector<std::string> all = single_source::complaints();
    if (const std::optional<import_result>& import = input_->import_details()) {
        for (const std::vector<std::string>* some : {&import->notes, &import->damages}) {
            for (const std::string& sentence : *some) {
                all.push_back(fmt::format("{}: {}", input_->name(), sentence));
            }
        }
    }
    all.insert(all.end(), file_.damages().begin(), file_.damages().end());
    // In a damaged file the missing end is not reported separately.
    if (file_.damages().empty() && !file_.end()) {
        all.push_back(fmt::format(
            "The file {} has no end: {}. Everything in it can be read.", input_->name(),
            file_.is_being_written() ? "it is still being written" : "its recorder was killed"));
    }
    return all;
}

/// The source is over when on_loss has returned for all of the last losses.
void file_source::finish() {
    if (std::exchange(has_ended_, true)) {
        return;
    }
    if (range_.is_everything()) {
        file_.compare_with_end_block();
    }
    // Losses after the last record of a ring are at the end of the file's time.
    if (range_.to == INT64_MAX) {
        for (const loss_report& block : file_.losses()) {
            take_loss(block);
        }
    }
}

}  // namespace elog::library
