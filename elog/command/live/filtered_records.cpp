// SPDX-License-Identifier: MIT
#include "live/filtered_records.hpp"

#include <algorithm>
#include <utility>

#include "base/user_error.hpp"
#include "cli/complaints.hpp"
#include "cli/reading_progress.hpp"
#include "live/where.hpp"

namespace elog {
namespace {

record_selection opened(record_selection choice) {
    choice.open();
    return choice;
}

/// Writes nothing: filtered_records counts what passes.
class counting_writer final : public record_writer {
  public:
    void write(const merged_record& /*record*/, const provider_map& /*providers*/,
               const clock_converter& /*clock*/, std::uint32_t /*shared_ring*/) override {}
    void write_gap(const merged_record& /*record*/, std::uint32_t /*shared_ring*/) override {}
    void write_loss(const loss_report& /*loss*/, const provider_map& /*providers*/,
                    std::uint32_t /*shared_ring*/) override {}
    void flush() override {}
    void finish() override {}
};

}  // namespace

void read_with_progress(file_reader& file, const record_selection& choice, concurrent_output output,
                        const time_merger::take_record& take,
                        const std::function<bool()>& is_enough) {
    const reading_progress progress(choice.readable_path(), choice.times.has_range(), output);
    file.read(take, is_enough);
}

filtered_records::filtered_records(const record_selection& choice, const provider_map& providers,
                                   std::uint32_t shared_ring, record_writer& writer,
                                   bool is_followed)
    : providers_(providers),
      shared_ring_(shared_ring),
      writer_(writer),
      filter_(make_file_filter(choice.where, choice.readable_path())),
      has_end_(choice.has_end()),
      limit_(choice.limit.value_or(UINT64_MAX)) {
    add_providers(filter_.get(), nullptr, providers, !is_followed);
    for (const auto& [id, provider] : providers) {
        known_to_filter_.insert(id);
    }
}

/// Counts the events that would pass without --tail. Two passes need no memory for events.
void filtered_records::skip_to_tail(const record_selection& choice, file_reader& file) {
    if (!choice.tail) {
        return;
    }
    record_selection all = choice;
    all.tail.reset();
    counting_writer none;
    filtered_records counted(all, file.providers(), file.shared_ring(), none, false);
    read_with_progress(file, all, concurrent_output::nothing,
                       [&](const merged_record& record) { counted.write(record, file.clock()); });
    skipped_ = counted.passed() - std::min(counted.passed(), *choice.tail);
}

void filtered_records::write(const merged_record& record, const clock_converter& clock) {
    if (is_full()) {
        return;
    }
    write_marks(order_time_of(record), clock);
    const bool is_event = is_supported(record.record);
    const bool wanted = is_wanted(record.record, clock);
    if (skipped_ != 0) {
        skipped_ -= wanted && is_event ? 1U : 0U;
        return;  // with the losses before it
    }
    if (wanted) {
        writer_.write(record, providers_, clock, shared_ring_);
        if (is_event) {
            const std::uint64_t time = record.record.time;
            first_time_ = passed_ == 0 ? time : std::min(first_time_, time);
            last_time_ = std::max(last_time_, time);
            ++passed_;
        }
    } else {
        // A loss is reported in any case, because the lost events are unknown.
        writer_.write_gap(record, shared_ring_);
    }
}

void filtered_records::add_marks(const std::vector<recording_mark>& marks) {
    for (const recording_mark& mark : marks) {
        marks_.add(mark);
    }
}

/// Those before the events of --tail are left out.
void filtered_records::write_marks(std::uint64_t time, const clock_converter& clock) {
    marks_.take_until(time, [&](const recording_mark& mark) {
        if (skipped_ == 0) {
            writer_.write_mark(mark, clock);
        }
    });
}

void filtered_records::finish(const std::vector<loss_report>& lost_at_end,
                              const clock_converter& clock) {
    if (!is_full()) {
        write_marks(UINT64_MAX, clock);
    }
    // Losses after the last record of a ring are losses at the end.
    if (has_end_ && !is_full()) {
        for (const loss_report& loss : lost_at_end) {
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
    print_unknown_events(filter_.get());
}

/// Records of a newer version cannot be evaluated. They pass, and the writer counts them.
bool filtered_records::is_wanted(const record_view& record, const clock_converter& clock) {
    if (filter_ == nullptr || !is_supported(record)) {
        return true;
    }
    if (known_to_filter_.insert(record.provider).second) {
        add_provider_to_filter(record.provider);
    }
    return filter_->matches(record, clock);
}

/// For a provider that registered while the file was followed.
void filtered_records::add_provider_to_filter(std::uint32_t id) {
    const auto found = providers_.find(id);
    if (found == providers_.end()) {
        return;
    }
    try {
        filter_->add(found->second);
    } catch (const user_error& error) {
        print_mismatch(error.what());
    }
}

selected_records::selected_records(record_selection choice, record_writer& writer)
    : selection_(opened(std::move(choice))),
      file_(selection_.readable_path(), selection_.range()),
      wanted_(selection_, file_.providers(), file_.shared_ring(), writer, false) {
    wanted_.skip_to_tail(selection_, file_);
    wanted_.add_marks(file_.marks());
}

void selected_records::read(concurrent_output output) {
    read_with_progress(
        file_, selection_, output,
        [this](const merged_record& record) { wanted_.write(record, file_.clock()); },
        [this] { return wanted_.is_full(); });
    wanted_.finish(file_.losses(), file_.clock());
}

void selected_records::complain(const char* done) const {
    wanted_.print_type_mismatches();
    selection_.complain(file_, done);
}

}  // namespace elog
