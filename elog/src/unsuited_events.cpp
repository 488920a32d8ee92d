// SPDX-License-Identifier: MIT
#include "unsuited_events.hpp"

#include <algorithm>
#include <numeric>

namespace elog {

std::string unsuited_events::name_of_event(const provider_schema& provider,
                                           const event_schema& event) {
    return fmt::format("{}:{}", provider.name, event.name);
}

void unsuited_events::begin_provider(std::uint16_t provider) {
    if (provider < places_.size()) {
        places_[provider].clear();
    }
}

void unsuited_events::note_suited(const provider_schema& provider, const event_schema& event) {
    suited_.insert(name_of_event(provider, event));
}

void unsuited_events::note(const provider_instance& provider, std::size_t event,
                           const failure& reason) {
    const std::string name = name_of_event(provider.schema, provider.schema.events[event]);
    // Processes that run the same program have the same events.
    const auto same = std::find_if(found_.begin(), found_.end(), [&](const found& each) {
        return each.event == name && each.reason == reason.what();
    });
    const auto place = static_cast<std::size_t>(same - found_.begin());
    if (same == found_.end()) {
        found_.push_back({name, reason.what(), 0});
    }
    if (places_.size() <= provider.id) {
        places_.resize(std::size_t{provider.id} + 1);
    }
    std::vector<std::size_t>& places = places_[provider.id];
    if (places.size() <= event) {
        places.resize(event + 1, 0);
    }
    places[event] = place + 1;
}

void unsuited_events::check() const {
    for (const found& each : found_) {
        if (!suited_.contains(each.event)) {
            throw failure("{}", each.reason);
        }
    }
}

void unsuited_events::count(const eventlog_record& left_out) noexcept {
    if (left_out.provider < places_.size() && left_out.event < places_[left_out.provider].size()) {
        const std::size_t place = places_[left_out.provider][left_out.event];
        if (place != 0) {
            ++found_[place - 1].records;
        }
    }
}

std::uint64_t unsuited_events::counted() const noexcept {
    return std::accumulate(found_.begin(), found_.end(), std::uint64_t{0},
                           [](std::uint64_t sum, const found& each) { return sum + each.records; });
}

std::vector<std::string> unsuited_events::sentences(bool with_none) const {
    std::vector<std::string> all;
    for (const found& each : found_) {
        if (each.records != 0 || with_none) {
            all.push_back(fmt::format(
                "{} events of {}{} were left out: {}", each.records, each.event,
                suited_.contains(each.event) ? " by another version of its provider" : "",
                each.reason));
        }
    }
    return all;
}

}  // namespace elog
