// SPDX-License-Identifier: MIT
#include "schema/type_mismatches.hpp"

#include <numeric>

namespace elog {

std::string type_mismatches::name_of_event(const provider_schema& provider,
                                           const event_schema& event) {
    return fmt::format("{}:{}", provider.name, event.name);
}

void type_mismatches::begin_provider(std::uint32_t provider) {
    if (provider < indexes_.size()) {
        indexes_[provider].clear();
    }
}

void type_mismatches::note_compatible(const provider_schema& provider, const event_schema& event) {
    compatible_.insert(name_of_event(provider, event));
}

/// Shares entries: processes of one program have the same events.
std::size_t type_mismatches::index_of(std::string name, std::string reason) {
    std::pair<std::string, std::string> key(std::move(name), std::move(reason));
    if (const auto same = known_.find(key); same != known_.end()) {
        return same->second;
    }
    if (found_.size() == kept_max) {
        has_others_ = true;
        return kept_max;
    }
    const std::size_t index = found_.size();
    found_.push_back({key.first, key.second, 0});
    known_.emplace(std::move(key), index);
    return index;
}

void type_mismatches::note(const provider_instance& provider, std::size_t event,
                           const user_error& reason) {
    const std::size_t index = index_of(
        name_of_event(provider.schema, provider.schema.events[event]), std::string(reason.what()));
    if (indexes_.size() <= provider.id) {
        indexes_.resize(std::size_t{provider.id} + 1);
    }
    std::vector<std::size_t>& indexes = indexes_[provider.id];
    if (indexes.size() <= event) {
        indexes.resize(event + 1, 0);
    }
    indexes[event] = index + 1;
}

void type_mismatches::check() const {
    for (const found& each : found_) {
        if (!compatible_.contains(each.event)) {
            throw user_error("{}", each.reason);
        }
    }
}

void type_mismatches::count(std::uint32_t provider, std::uint16_t event,
                            std::uint64_t records) noexcept {
    if (provider < indexes_.size() && event < indexes_[provider].size()) {
        const std::size_t index = indexes_[provider][event];
        if (index != 0) {
            (index > found_.size() ? of_others_ : found_[index - 1].records) += records;
        }
    }
}

std::uint64_t type_mismatches::counted() const noexcept {
    return std::accumulate(found_.begin(), found_.end(), of_others_,
                           [](std::uint64_t sum, const found& each) { return sum + each.records; });
}

std::vector<std::string> type_mismatches::sentences(bool with_none) const {
    std::vector<std::string> all;
    for (const found& each : found_) {
        if (each.records != 0 || with_none) {
            all.push_back(fmt::format(
                "{} events of {}{} were left out: {}", each.records, each.event,
                compatible_.contains(each.event) ? " by another version of its provider" : "",
                each.reason));
        }
    }
    if (of_others_ != 0 || (with_none && has_others_)) {
        all.push_back(fmt::format("{} events of other kinds than the first {} were left out for "
                                  "such reasons, too.",
                                  of_others_, kept_max));
    }
    return all;
}

}  // namespace elog
