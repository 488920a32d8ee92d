// SPDX-License-Identifier: MIT
#include "top/top_statistics.hpp"

#include <algorithm>
#include <utility>

#include "record/ring_records.hpp"

namespace elog {
namespace {

template <class List>
auto find_named(List& list, const std::string& name) {
    return std::find_if(list.begin(), list.end(),
                        [&name](const auto& each) { return each.name == name; });
}

}  // namespace

void rate_counter::end_interval(double seconds) {
    history_.push_back(seconds > 0 ? static_cast<double>(current_) / seconds : 0);
    if (history_.size() > history_max) {
        history_.erase(history_.begin());
    }
    ended_ += current_;
    current_ = 0;
}

void top_statistics::add(const provider_instance& provider) {
    auto place = find_named(providers_, provider.schema.name);
    if (place == providers_.end()) {
        place = providers_.insert(place, {.name = provider.schema.name});
    }
    ++place->processes;
    if (provider.id >= sources_.size()) {
        sources_.resize(provider.id + std::size_t{1});
    }
    std::optional<source>& known = sources_[provider.id];
    known.emplace();
    known->schema = provider.schema;
    known->provider = static_cast<std::size_t>(place - providers_.begin());
    known->seen.assign(provider.schema.events.size(), unseen);
    mark_examined(*known);
}

void top_statistics::mark_examined(source& from) const {
    from.is_examined.assign(from.schema.events.size(), false);
    for (std::size_t i = 0; i < from.schema.events.size(); ++i) {
        from.is_examined[i] = chosen_ == event_name{from.schema.name, from.schema.events[i].name};
    }
}

void top_statistics::take(const record_view& record) {
    const bool is_known = record.provider < sources_.size() && sources_[record.provider] &&
                          record.event < sources_[record.provider]->schema.events.size();
    if (!is_known || !is_supported(record)) {
        ++unrecognized_;
        return;
    }
    source& from = *sources_[record.provider];
    top_provider& provider = providers_[from.provider];
    std::size_t& place = from.seen[record.event];
    if (place == unseen) {
        const event_schema& event = from.schema.events[record.event];
        const auto found = find_named(provider.seen, event.name);
        place = static_cast<std::size_t>(found - provider.seen.begin());
        if (found == provider.seen.end()) {
            provider.seen.push_back({event.name, event.description, event.severity});
        }
    }
    const std::size_t size = usual_ring_size(record);
    for (rate_counter* each : {&events_, &provider.events, &provider.seen[place].events}) {
        each->add(1);
    }
    for (rate_counter* each : {&bytes_, &provider.bytes, &provider.seen[place].bytes}) {
        each->add(size);
    }
    if (from.is_examined[record.event]) {
        examine_fields(from, record);
    }
}

void top_statistics::examine_fields(const source& from, const record_view& record) {
    ++seen_count_;
    if (examined_in_interval_ == examined_max) {
        return;
    }
    ++examined_in_interval_;
    ++examined_;
    const event_schema& event = from.schema.events[record.event];
    for (std::size_t i = 0; i < event.fields.size(); ++i) {
        census_of(from.schema, event.fields[i], i)
            .take(from.schema, event.fields[i], record.payload);
    }
}

field_statistics& top_statistics::census_of(const provider_schema& provider,
                                            const field_schema& field, std::size_t place) {
    if (place < fields_.size() && fields_[place].name() == field.name) {
        return fields_[place];
    }
    // The first record, or one of another version of the program.
    const auto found =
        std::find_if(fields_.begin(), fields_.end(),
                     [&field](const field_statistics& each) { return each.name() == field.name; });
    return found != fields_.end() ? *found : fields_.emplace_back(provider, field);
}

void top_statistics::update_losses(std::uint32_t provider, std::uint64_t so_far) {
    if (provider >= sources_.size() || !sources_[provider] || so_far <= sources_[provider]->lost) {
        return;
    }
    source& from = *sources_[provider];
    for (rate_counter* each : {&lost_, &providers_[from.provider].lost}) {
        each->add(so_far - from.lost);
    }
    from.lost = so_far;
}

void top_statistics::update_unattributed_losses(std::uint64_t so_far) {
    if (so_far > unattributed_lost_) {
        lost_.add(so_far - unattributed_lost_);
        unattributed_lost_ = so_far;
    }
}

void top_statistics::end_interval(double seconds) {
    seconds_ += seconds;
    examined_in_interval_ = 0;
    for (rate_counter* each : {&events_, &bytes_, &lost_}) {
        each->end_interval(seconds);
    }
    for (top_provider& provider : providers_) {
        for (rate_counter* each : {&provider.events, &provider.bytes, &provider.lost}) {
            each->end_interval(seconds);
        }
        for (top_event& event : provider.seen) {
            event.events.end_interval(seconds);
            event.bytes.end_interval(seconds);
        }
    }
}

void top_statistics::set_examined(std::optional<event_name> chosen) {
    if (chosen_ == chosen) {
        return;
    }
    chosen_ = std::move(chosen);
    fields_.clear();
    seen_count_ = 0;
    examined_ = 0;
    for (std::optional<source>& each : sources_) {
        if (each) {
            mark_examined(*each);
        }
    }
}

const top_provider* top_statistics::find(const std::string& provider) const noexcept {
    const auto found = find_named(providers_, provider);
    return found == providers_.end() ? nullptr : &*found;
}

const top_event* top_statistics::find(const event_name& event) const noexcept {
    const top_provider* provider = find(event.provider);
    if (provider == nullptr) {
        return nullptr;
    }
    const auto found = find_named(provider->seen, event.event);
    return found == provider->seen.end() ? nullptr : &*found;
}

}  // namespace elog
