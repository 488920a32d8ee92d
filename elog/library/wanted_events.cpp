// SPDX-License-Identifier: MIT
#include "wanted_events.hpp"

#include <algorithm>
#include <utility>

namespace elog::library {

wanted_events::wanted_events(const origin& from, options wanted)
    : from_(from), wanted_(std::move(wanted)), known_(wanted_.fields.size(), false) {
    if (!wanted_.where.empty()) {
        filter_.emplace(predicate("where", wanted_.where), wanted_.reference_time);
    }
}

void wanted_events::add(const provider_instance& provider) {
    if (events_.size() <= provider.id) {
        events_.resize(std::size_t{provider.id} + 1);
    }
    std::vector<event_info>& events = events_[provider.id];
    events.reserve(provider.schema.events.size());
    for (const event_schema& schema : provider.schema.events) {
        const auto id = static_cast<std::uint16_t>(events.size());
        events.push_back({&from_, &provider, &schema, id});
        choose_fields(events.back());
    }
    if (filter_) {
        filter_->add(provider);
    }
}

void wanted_events::choose_fields(event_info& event) {
    const provider_schema& provider = event.provider->schema;
    names_.add(provider, *event.schema);
    if (wanted_.fields.empty()) {
        for (const field_schema& field : event.schema->fields) {
            event.fields.push_back({&field, &provider});
        }
        return;
    }
    for (std::size_t i = 0; i < wanted_.fields.size(); ++i) {
        const auto found = std::find_if(
            event.schema->fields.begin(), event.schema->fields.end(),
            [&](const field_schema& field) { return field.name == wanted_.fields[i]; });
        if (found != event.schema->fields.end()) {
            event.fields.push_back({&*found, &provider});
            known_[i] = true;
        }
    }
}

void wanted_events::exclude(std::uint32_t provider) {
    for (event_info& event : events_[provider]) {
        event.is_excluded = true;
    }
}

bool wanted_events::may_want_any() const noexcept {
    if (!filter_) {
        return true;
    }
    for (std::size_t provider = 0; provider < events_.size(); ++provider) {
        for (const event_info& event : events_[provider]) {
            const auto verdict =
                filter_->verdict_of(static_cast<std::uint32_t>(provider), event.id);
            if (verdict != record_filter::verdict::never) {
                return true;
            }
        }
    }
    return false;
}

void wanted_events::check_names() const {
    if (filter_) {
        filter_->check_names();
    }
    if (events_.empty()) {
        return;
    }
    for (std::size_t i = 0; i < known_.size(); ++i) {
        if (!known_[i]) {
            names_.reject("fields", {.name = wanted_.fields[i], .field_only = true});
        }
    }
}

const event_info* wanted_events::find(std::uint32_t provider, std::uint16_t event) const noexcept {
    return provider < events_.size() && event < events_[provider].size() ? &events_[provider][event]
                                                                         : nullptr;
}

std::vector<event> wanted_events::all() const {
    std::vector<event> found;
    for (const std::vector<event_info>& events : events_) {
        for (const event_info& known : events) {
            found.emplace_back(known);
        }
    }
    return found;
}

}  // namespace elog::library
