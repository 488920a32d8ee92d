// SPDX-License-Identifier: MIT
#include "script/latency_pairs.hpp"

#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "aggregate/key_format.hpp"
#include "record/ring_records.hpp"

namespace elog {
namespace {

constexpr std::uint16_t added_size = sizeof(std::int64_t);

// Records are smaller, and so are the fixed sizes that a parsed schema has.
static_assert(payload_size_max + added_size <= std::numeric_limits<std::uint16_t>::max());

/// The event with the duration in front of its payload. Texts are found relative to their fields,
/// so all fields move by the same distance.
void add_latency_field(event_schema& event) {
    for (field_schema& field : event.fields) {
        field.offset = static_cast<std::uint16_t>(field.offset + added_size);
        if (field.presence != schema_format::no_index) {
            field.presence = static_cast<std::uint16_t>(field.presence + added_size);
        }
    }
    event.fixed_size = static_cast<std::uint16_t>(event.fixed_size + added_size);
    field_schema added;
    added.name = latency_field;
    added.type = eventlog::field_type::signed_64;
    added.format = eventlog::format::duration;
    event.fields.push_back(std::move(added));
}

}  // namespace

latency_pairs::latency_pairs(const latency_query& query, aggregator& durations)
    : query_(query), durations_(durations), known_by_(query.by.size(), false) {
    begin_.add(query.begin);
    end_.add(query.end);
}

latency_pairs::event_role latency_pairs::role_of(const provider_instance& provider,
                                                 const event_schema& event) {
    event_role role;
    role.begins = begin_.matches(provider.schema, event);
    role.ends = end_.matches(provider.schema, event);
    if (!role.begins && !role.ends) {
        return role;
    }
    names_.add(provider.schema, event);
    for (std::size_t i = 0; i < query_.by.size(); ++i) {
        const aggregate_key& key = query_.by[i];
        const std::optional<value_location> place =
            find_location(key.of, provider, event, script_source);
        if (!place) {
            return {};
        }
        if (place->stored.is == value_class::array) {
            reject_expression(script_source, key.of.column,
                              fmt::format("'{0}' is an array: name an element, {0}[0].", key.text));
        }
        known_by_[i] = true;
        role.by.push_back(*place);
    }
    has_begin_ = has_begin_ || role.begins;
    has_end_ = has_end_ || role.ends;
    return role;
}

void latency_pairs::add(const provider_instance& provider) {
    const provider_instance& kept = kept_.insert_or_assign(provider.id, provider).first->second;
    provider_instance longer = provider;
    std::optional<user_error> mistake;
    std::vector<event_role>& roles = roles_[provider.id];
    roles.clear();
    for (std::size_t i = 0; i < kept.schema.events.size(); ++i) {
        has_events_ = true;
        event_role role;
        try {
            role = role_of(kept, kept.schema.events[i]);
        } catch (const user_error& error) {
            mistake = error;
        }
        roles.push_back(std::move(role));
        add_latency_field(longer.schema.events[i]);
    }
    durations_.add(longer);
    if (mistake) {
        throw user_error(*mistake);
    }
}

void latency_pairs::check_names() const {
    if (!has_events_ || (has_begin_ && has_end_)) {
        return;
    }
    for (std::size_t i = 0; i < known_by_.size(); ++i) {
        if (!known_by_[i]) {
            names_.reject(script_source, query_.by[i].of);
        }
    }
    reject_expression(script_source, query_.by.front().of.column,
                      fmt::format("No event that matches '{}' has these fields.",
                                  has_begin_ ? query_.end : query_.begin));
}

/// False if the record lacks a value: nothing can be equal to it.
bool latency_pairs::build_key(const event_role& role, const record_view& record,
                              const clock_converter& clock) {
    key_.clear();
    for (const value_location& place : role.by) {
        const std::size_t before = key_.size();
        if (!append_key(key_, place, record, clock) || key_[before] == '-' ||
            key_.size() > key_size_max) {
            return false;
        }
    }
    return true;
}

void latency_pairs::take(const record_view& record, const clock_converter& clock) {
    const auto found = roles_.find(record.provider);
    if (found == roles_.end() || record.event >= found->second.size() || !is_supported(record)) {
        return;
    }
    const event_role& role = found->second[record.event];
    if (!role.begins && !role.ends) {
        return;
    }
    if (!build_key(role, record, clock)) {
        ++counts_.unusable;
        return;
    }
    // An event that is both ends one pair and begins the next.
    if (role.ends && (!role.begins || open_.contains(key_))) {
        end(record, clock);
    }
    if (role.begins) {
        begin(record, clock);
    }
}

void latency_pairs::begin(const record_view& record, const clock_converter& clock) {
    const std::int64_t now = clock.monotonic(record.time);
    const auto known = open_.find(key_);
    if (known != open_.end()) {
        ++counts_.begins_without_end;
        known->second = now;
    } else if (open_.size() == open_max) {
        ++counts_.overflowed;
    } else {
        open_.emplace(key_, now);
    }
}

void latency_pairs::end(const record_view& record, const clock_converter& clock) {
    const auto known = open_.find(key_);
    if (known == open_.end()) {
        ++counts_.ends_without_begin;
        return;
    }
    const std::int64_t now = clock.monotonic(record.time);
    std::int64_t took = 0;
    const bool overflows = __builtin_sub_overflow(now, known->second, &took);
    open_.erase(known);
    if (overflows || took < 0) {
        ++counts_.unusable;
        return;
    }
    payload_.resize(sizeof took + record.payload.size());
    std::memcpy(payload_.data(), &took, sizeof took);
    if (!record.payload.empty()) {
        std::memcpy(payload_.data() + sizeof took, record.payload.data(), record.payload.size());
    }
    record_view longer = record;
    longer.payload = payload_;
    durations_.take(longer, clock);
}

latency_counts latency_pairs::counts() const noexcept {
    latency_counts all = counts_;
    all.begins_without_end += open_.size();
    return all;
}

}  // namespace elog
