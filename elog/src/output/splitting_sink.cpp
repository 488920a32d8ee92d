// SPDX-License-Identifier: MIT
#include "output/splitting_sink.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "aggregate/key_format.hpp"
#include "platform/unique_fd.hpp"
#include "record/ring_records.hpp"
#include "text/did_you_mean.hpp"

namespace elog {
namespace {

constexpr std::size_t rest = 0;

// Bytes of values whose file is known are kept for a faster search. Beyond this size, the file is
// searched by text.
constexpr std::size_t keys_max = std::size_t{1} << 20U;

/// Whether the bytes of a value, which append_key() makes, distinguish it.
bool has_key(const value_location& place) noexcept {
    return place.stored.is != value_class::array;
}

}  // namespace

void split_name_check::add(const event_schema& event) {
    has_events_ = true;
    has_session_ = has_session_ || event.session_bound;
    for (const field_schema& field : event.fields) {
        names_.insert(field.name);
    }
}

void split_name_check::check() const {
    if (!has_events_) {
        return;
    }
    // Before the names of fields: a field of that name is not what is meant.
    if (name_ == "session") {
        if (!has_session_) {
            throw user_error("--split-by: No event belongs to a session. Name a field instead; "
                             "see the fields with: elog list");
        }
        return;
    }
    if (names_.contains(name_) || is_built_in(name_)) {
        return;
    }
    std::vector<std::string_view> names(names_.begin(), names_.end());
    names.insert(names.end(), built_in_names().begin(), built_in_names().end());
    const std::string advice = did_you_mean(name_, names);
    throw user_error("--split-by: No event has a field '{}'.{}", name_,
                     advice.empty() ? " See the fields with: elog list" : advice);
}

void splitting_sink::start(const region_view& source) {
    // Later sinks start when the caller's region may be gone; they use only these two.
    header_ = source.header;
    geometry_ = source.geometry;
    clock_ = clock_converter(source.header.clock);
    losses_.assign(source.geometry.ring_count, {});
    parts_.push_back(begin_part(std::nullopt));
}

splitting_sink::part splitting_sink::begin_part(std::optional<std::string_view> value) {
    part begun;
    const eventlog::core::unique_fd no_file;
    begun.sink =
        make_(value, parts_.empty() ? 0 : parts_.size() - 1, {no_file, header_, geometry_});
    begun.rings.resize(losses_.size());
    for (const eventlog_clock_sample& reading : readings_) {
        begun.sink->take_clock(reading);
    }
    for (const recording_mark& mark : marks_) {
        begun.sink->take_mark(mark);
    }
    for (const auto& [provider, loss] : noted_) {
        begun.sink->note_loss(loss);
    }
    return begun;
}

template <class Call>
void splitting_sink::attempt(part& to, const Call& call) {
    if (to.has_failed) {
        return;
    }
    try {
        call(*to.sink);
    } catch (...) {
        to.has_failed = true;
        error_ = error_ ? error_ : std::current_exception();
    }
}

/// The exception of one sink ends the recording: the others get all that they were to have until
/// now, and their end.
void splitting_sink::end_if_failed() {
    if (error_) {
        finish();
    }
}

template <class Call>
void splitting_sink::for_each_part(const Call& call) {
    for (part& each : parts_) {
        attempt(each, call);
    }
    end_if_failed();
}

/// Keeps the readings that records of a later sink may need: as no later record is earlier than the
/// watermark, of those before it only the last one.
void splitting_sink::take_clock(const eventlog_clock_sample& pair) {
    clock_.add(pair);
    if (readings_.empty() || pair.clock > readings_.back().clock) {
        readings_.push_back(pair);
    }
    const auto later = std::find_if(readings_.begin(), readings_.end(), [&](const auto& reading) {
        return reading.clock > watermark_;
    });
    if (later != readings_.begin()) {
        readings_.erase(readings_.begin(), later - 1);
    }
    for_each_part([&](record_sink& sink) { sink.take_clock(pair); });
}

void splitting_sink::take_provider(const provider_instance& provider) {
    const provider_instance& kept =
        providers_.insert_or_assign(provider.id, provider).first->second;
    std::vector<event_value> found;
    for (const event_schema& event : kept.schema.events) {
        names_.add(event);
        event_value& added = found.emplace_back();
        added.place = find_location(name_, kept, event, name_.name);
        if (added.place) {
            added.signature = key_format_signature(*added.place);
        }
    }
    events_.insert_or_assign(provider.id, std::move(found));
    for (part& each : parts_) {
        if (each.providers.contains(provider.id)) {
            // Replaces one with the same number.
            attempt(each, [&](record_sink& sink) { sink.take_provider(kept); });
        }
    }
    end_if_failed();
}

std::size_t splitting_sink::part_of_text(std::string_view text) {
    const std::size_t known = values_.find(text);
    if (known != key_table::none) {
        return known + 1;
    }
    if (values_.size() == values_max_) {
        return rest;
    }
    try {
        parts_.push_back(begin_part(text));
    } catch (const user_error& error) {
        failure_ = error;
        values_max_ = values_.size();
        if (on_failure_) {
            on_failure_();
        }
        return rest;
    }
    return values_.add(text) + 1;
}

/// Values that are shown alike have one sink, whatever their types are.
std::size_t splitting_sink::part_of_value(const value_location& place, const record_view& record) {
    const auto provider = providers_.find(record.provider);
    std::string_view bytes;
    std::size_t found = rest;
    if (place.stored.is != value_class::text) {
        found = part_of_text(format_key(place, provider->second.schema, record, clock_).shown);
    } else if (place.stored.source == field_source::fixed) {
        found = part_of_text(place.fixed_text);
    } else if (load_span(place.stored, record, bytes)) {
        found = part_of_text(bytes);
    } else {
        return rest;  // a null text has no value
    }
    beyond_limit_ += found == rest ? 1 : 0;
    return found;
}

std::size_t splitting_sink::part_of(const record_view& record) {
    const auto events = events_.find(record.provider);
    if (events == events_.end() || record.event >= events->second.size() || !is_supported(record)) {
        return rest;
    }
    const event_value& value = events->second[record.event];
    if (!value.place || !is_there(value.place->stored, record)) {
        return rest;
    }
    if (!has_key(*value.place)) {
        return part_of_value(*value.place, record);
    }
    scratch_.assign(value.signature);
    scratch_.push_back('\0');
    if (!append_key(scratch_, *value.place, record, clock_)) {
        return rest;  // damaged
    }
    const std::size_t known = keys_.find(scratch_);
    if (known != key_table::none) {
        return key_parts_[known];
    }
    const std::size_t found = part_of_value(*value.place, record);
    if (found != rest && keys_.bytes() + scratch_.size() <= keys_max) {
        keys_.add(scratch_);
        key_parts_.push_back(found);
    }
    return found;
}

/// Passes on the part's records of the run.
void splitting_sink::pass_on(const record_run& run, part& to) {
    part::ring_state& ring = to.rings[run.ring];
    const ring_losses& lost = losses_[run.ring];
    record_run own = run;
    own.lost_before = lost.all - std::exchange(ring.reported, lost.all);
    own.overwritten = lost.overwritten;
    // Records of other sinks have no number here, so the only gaps are losses.
    own.sequence = ring.next + own.lost_before;
    own.count = std::exchange(to.count, 0);
    own.bytes = to.bytes;
    own.context = 0;
    ring.next = own.sequence + own.count;
    attempt(to, [&](record_sink& sink) { sink.take_run(own); });
    to.bytes.clear();
}

void splitting_sink::take_run(const record_run& run) {
    ring_losses& lost = losses_[run.ring];
    if (run.lost_before != 0) {
        lost.all += run.lost_before;
        lost.overwritten = run.overwritten;
    }
    used_.clear();
    run_reader records(run);
    for (record_view record; records.next(record);) {
        const std::size_t number = part_of(record);
        part& to = parts_[number];
        if (to.count == 0) {
            used_.push_back(number);
        }
        if (const auto provider = providers_.find(record.provider);
            provider != providers_.end() && to.providers.insert(record.provider).second) {
            attempt(to, [&](record_sink& sink) { sink.take_provider(provider->second); });
        }
        records.append_last_to(to.bytes);
        ++to.count;
    }
    for (const std::size_t number : used_) {
        pass_on(run, parts_[number]);
    }
    end_if_failed();
}

/// Not every sink knows the provider.
loss_report splitting_sink::with_names(const loss_report& loss) const {
    loss_report named = loss;
    const auto provider = providers_.find(loss.index);
    if (loss.scope == loss_scope::provider && provider != providers_.end()) {
        named.provider = provider->second.schema.name;
        named.process = provider->second.process;
        named.pid = provider->second.pid;
        named.start_time = provider->second.start_time;
    }
    return named;
}

void splitting_sink::take_loss(const loss_report& loss) {
    if (loss.scope != loss_scope::ring || loss.index >= losses_.size()) {
        const loss_report named = with_names(loss);
        for_each_part([&](record_sink& sink) { sink.take_loss(named); });
        return;
    }
    const ring_losses& lost = losses_[loss.index];
    for (part& each : parts_) {
        const std::uint64_t unreported =
            lost.all - std::exchange(each.rings[loss.index].reported, lost.all);
        loss_report whole = loss;
        whole.full += unreported;
        whole.overwritten += lost.overwritten ? unreported : 0;
        attempt(each, [&](record_sink& sink) { sink.take_loss(whole); });
    }
    end_if_failed();
}

void splitting_sink::note_loss(const loss_report& loss) {
    loss_report named = with_names(loss);
    for_each_part([&](record_sink& sink) { sink.note_loss(named); });
    if (loss.scope == loss_scope::provider) {
        noted_.insert_or_assign(loss.index, std::move(named));
    }
}

void splitting_sink::take_mark(const recording_mark& mark) {
    marks_.push_back(mark);
    for_each_part([&](record_sink& sink) { sink.take_mark(mark); });
}

void splitting_sink::advance(std::uint64_t time, std::uint64_t present) {
    watermark_ = time;
    for_each_part([&](record_sink& sink) { sink.advance(time, present); });
}

void splitting_sink::check() {
    for_each_part([](record_sink& sink) { sink.check(); });
}

void splitting_sink::finish() {
    for (part& each : parts_) {
        attempt(each, [&](record_sink& sink) {
            for (std::uint32_t ring = 0; ring < losses_.size(); ++ring) {
                const ring_losses& lost = losses_[ring];
                const std::uint64_t unreported = lost.all - each.rings[ring].reported;
                if (unreported != 0) {
                    sink.take_loss(
                        trailing_loss(ring, unreported, lost.overwritten ? unreported : 0));
                }
            }
            sink.finish();
        });
    }
    if (error_) {
        std::rethrow_exception(error_);
    }
}

}  // namespace elog
