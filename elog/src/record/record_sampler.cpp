// SPDX-License-Identifier: MIT
#include "record/record_sampler.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace elog {

record_sampler::record_sampler(event_patterns patterns, sampling_options wanted,
                               rate_limiter::clock present)
    : patterns_(std::move(patterns)), wanted_(std::move(wanted)) {
    if (wanted_.max_rate != 0) {
        limiter_.emplace(wanted_.max_rate, present);
    }
    total_.max_rate = wanted_.max_rate;
}

void record_sampler::start(std::size_t ring_count, std::uint64_t begin) {
    last_.assign(ring_count, begin);
}

void record_sampler::add(const provider_instance& provider) {
    if (events_.size() <= provider.id) {
        events_.resize(std::size_t{provider.id} + 1);
    }
    std::vector<event_counters> events;
    events.reserve(provider.schema.events.size());
    for (const event_schema& event : provider.schema.events) {
        events.push_back(counters_of(provider.schema, event));
    }
    events_[provider.id] = std::move(events);
}

/// An event that no pattern matches is not sampled: the one that ends a dump arrives unasked.
record_sampler::event_counters record_sampler::counters_of(const provider_schema& provider,
                                                           const event_schema& event) {
    constexpr std::uint64_t none = UINT64_MAX;
    std::uint64_t in_session = none;
    std::uint64_t other = none;
    for (std::size_t i = 0; i < patterns_.size(); ++i) {
        if (!patterns_.matches(i, provider, event)) {
            continue;
        }
        const std::uint64_t every = i < wanted_.every.size() ? wanted_.every[i] : 1;
        in_session = std::min(in_session, every);
        if (!patterns_[i].ends_with('#')) {
            other = std::min(other, every);
        }
    }
    in_session = in_session == none ? 1 : in_session;
    other = other == none ? in_session : other;
    event_counters found;
    found.in_session = counter_of(provider.name, event.name, in_session);
    found.other = counter_of(provider.name, event.name, other);
    if (in_session != other && event.session_bound && !event.fields.empty()) {
        found.session_offset = event.fields.front().offset;
    }
    return found;
}

std::size_t record_sampler::counter_of(const std::string& provider, const std::string& event,
                                       std::uint64_t every) {
    const auto [place, is_new] = places_.try_emplace({provider, event, every}, counters_.size());
    if (is_new) {
        counters_.push_back({{provider, event, every}, 0});
    }
    return place->second;
}

bool record_sampler::is_in_session(const record_view& record, std::size_t offset) const noexcept {
    std::uint64_t session = 0;
    if (offset > record.payload.size() || record.payload.size() - offset < sizeof session) {
        return false;
    }
    std::memcpy(&session, record.payload.data() + offset, sizeof session);
    const std::vector<std::uint64_t>& wanted = patterns_.sessions();
    return std::find(wanted.begin(), wanted.end(), session) != wanted.end();
}

record_sampler::counter* record_sampler::find(const record_view& record) noexcept {
    if (!is_supported(record) || record.provider >= events_.size() ||
        record.event >= events_[record.provider].size()) {
        return nullptr;
    }
    const event_counters& event = events_[record.provider][record.event];
    const bool is_other =
        event.session_offset.has_value() && !is_in_session(record, *event.session_offset);
    return &counters_[is_other ? event.other : event.in_session];
}

std::uint64_t record_sampler::time_of(const record_view& record, std::uint32_t ring) noexcept {
    if (ring >= last_.size()) {
        return record.time;
    }
    if (!has_custom_time(record)) {
        last_[ring] = record.time;
    }
    return last_[ring];
}

bool record_sampler::keeps(const record_view& record, std::uint32_t ring,
                           const clock_converter& clock) {
    counter* const of_event = find(record);
    const std::uint64_t time = time_of(record, ring);
    if (of_event != nullptr) {
        if (of_event->left != 0) {
            --of_event->left;
            add_saturating(of_event->counts.by_sampling, 1);
            add_saturating(total_.by_sampling, 1);
            return false;
        }
        of_event->left = of_event->counts.every - 1;
    }
    const bool is_kept = !limiter_ || limiter_->admits(clock.monotonic(time));
    if (of_event != nullptr) {
        add_saturating(is_kept ? of_event->counts.kept : of_event->counts.by_rate, 1);
    }
    add_saturating(is_kept ? total_.kept : total_.by_rate, 1);
    return is_kept;
}

sampling_report record_sampler::report() const {
    sampling_report all = total_;
    for (const auto& [key, place] : places_) {
        const sampled_event& event = counters_[place].counts;
        if (event.kept != 0 || event.omitted() != 0) {
            all.events.push_back(event);
        }
    }
    return all;
}

}  // namespace elog
