// SPDX-License-Identifier: MIT
#include "aggregate/aggregator.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "aggregate/aggregate_values.hpp"

namespace elog {
namespace {

// Limit on the memory for keys and their texts.
constexpr std::size_t key_bytes_max = std::size_t{64} << 20U;

}  // namespace

aggregator::aggregator(aggregation query, record_filter* filter, std::size_t keys_max,
                       event_choice chosen)
    : planner_(std::move(query), std::move(chosen)), filter_(filter), keys_max_(keys_max) {}

void aggregator::add(const provider_instance& provider) {
    if (plans_.size() <= provider.id) {
        plans_.resize(std::size_t{provider.id} + 1);
    }
    planner_.plan(provider, filter_, plans_[provider.id]);
}

void aggregator::take(const record_view& record, const clock_converter& clock) {
    if (record.provider >= plans_.size() || record.event >= plans_[record.provider].size() ||
        !is_supported(record)) {
        ++unknown_;
        return;
    }
    event_plan& plan = plans_[record.provider][record.event];
    if (!plan.wanted) {
        count_unsuited(record, clock);
        return;
    }
    if (plan.needs_test && !filter_->matches(record, clock)) {
        return;
    }
    if (record.payload.size() < plan.size) {
        ++damaged_;
        return;
    }
    const bool has_any =
        std::any_of(plan.calls.begin(), plan.calls.end(),
                    [&](const call_input& input) { return has_input(input, record); });
    if (!has_any) {
        return;
    }
    const std::size_t group = find_or_add_group(plan, record, clock, 1);
    if (group != key_table::none) {
        ++taken_;
        accumulator* const into = &values_[group * plan.calls.size()];
        for (std::size_t i = 0; i < plan.calls.size(); ++i) {
            add_value(query().calls[i].what, plan.calls[i], into[i], record, clock);
        }
    }
}

template <class Merge>
void aggregator::merge_group(const record_view& like, const clock_converter& clock,
                             std::uint64_t records, const Merge& merge) {
    event_plan& plan = plans_[like.provider][like.event];
    if (!plan.wanted) {
        planner_.mismatches().count(like.provider, like.event, records);
        return;
    }
    const std::size_t group = find_or_add_group(plan, like, clock, records);
    if (group == key_table::none) {
        return;
    }
    taken_ += records;
    for (std::size_t i = 0; i < plan.calls.size(); ++i) {
        if (plan.calls[i].taken) {
            merge(i, plan.calls[i], values_[group * plan.calls.size() + i]);
        }
    }
}

void aggregator::merge_partial(const record_view& like, const clock_converter& clock,
                               const partial_sums& counted) {
    merge_group(like, clock, counted.records,
                [&](std::size_t call, const call_input& input, accumulator& into) {
                    merge_value(query().calls[call].what, input, into, like, clock, counted.records,
                                counted.sums[call]);
                });
}

void aggregator::merge_partial(const record_view& like, const clock_converter& clock,
                               std::uint64_t records,
                               const std::vector<partial_aggregate>& values) {
    merge_group(like, clock, records,
                [&](std::size_t call, const call_input& input, accumulator& into) {
                    if (values[call].count != 0) {
                        merge_value(query().calls[call].what, input, into, values[call]);
                    }
                });
}

/// Counts a record of an unsuitable event if the filter matches it. The filter counts the records
/// that it cannot test.
void aggregator::count_unsuited(const record_view& record, const clock_converter& clock) {
    if (filter_ == nullptr || filter_->matches(record, clock)) {
        planner_.mismatches().count(record.provider, record.event);
    }
}

std::uint64_t aggregator::all_mismatches() const noexcept {
    return planner_.mismatches().counted() +
           (filter_ == nullptr ? 0 : filter_->mismatches().counted());
}

std::size_t aggregator::find_or_add_group(event_plan& plan, const record_view& record,
                                          const clock_converter& clock, std::uint64_t records) {
    if (plan.has_fixed_key && plan.group != key_table::none) {
        return plan.group;
    }
    if (!build_group_key(plan, record, clock)) {
        damaged_ += records;
        return key_table::none;
    }
    std::size_t group = table_.find(key_);
    if (group == key_table::none) {
        if (table_.size() == keys_max_ ||
            table_.bytes() + text_size_ + key_.size() > key_bytes_max) {
            overflowed_ += records;
            return key_table::none;
        }
        group = table_.add(key_);
        add_group(plan, record, clock);
    }
    plan.group = group;
    return group;
}

bool aggregator::build_group_key(const event_plan& plan, const record_view& record,
                                 const clock_converter& clock) {
    key_.clear();
    for (std::size_t i = 0; i < plan.keys.size(); ++i) {
        for (unsigned shift = 0; shift < 32; shift += 8) {
            key_.push_back(static_cast<char>(plan.key_format_ids[i] >> shift));
        }
        if (!append_key(key_, plan.keys[i], record, clock)) {
            return false;
        }
    }
    return true;
}

void aggregator::add_group(const event_plan& plan, const record_view& record,
                           const clock_converter& clock) {
    std::vector<key_text>& texts = texts_.emplace_back();
    for (const value_location& place : plan.keys) {
        texts.push_back(format_table_key(place, plan.provider->schema, record, clock));
        text_size_ += texts.back().shown.size() + texts.back().json.size();
    }
    values_.resize(values_.size() + query().calls.size());
}

void aggregator::reset_values() {
    table_.clear();
    values_.clear();
    texts_.clear();
    text_size_ = 0;
    for (std::vector<event_plan>& plans : plans_) {
        for (event_plan& plan : plans) {
            plan.group = key_table::none;
        }
    }
    taken_ = 0;
    missing_ = {};
    overflowed_ = 0;
    damaged_ = 0;
    unknown_ = 0;
    mismatches_before_ = all_mismatches();
}

std::vector<aggregator::row> aggregator::rows() const {
    const auto first = std::find_if(query().calls.begin(), query().calls.end(),
                                    [](const auto& call) { return !is_distribution(call.what); });
    const auto index =
        static_cast<std::size_t>(first == query().calls.end() ? 0 : first - query().calls.begin());
    const aggregate_function what = query().calls[index].what;
    std::vector<row> all;
    std::vector<double> sizes;
    std::vector<wide_integer> integers;  // of all groups, or not used: doubles have 53 bits
    for (std::size_t i = 0; i < texts_.size(); ++i) {
        const accumulator* values = &values_[i * query().calls.size()];
        all.push_back({i, &texts_[i], values});
        const double size = numeric_value(what, values[index]);
        // NaN and missing values are last.
        const bool is_there = !std::isnan(size) && values[index].count() != 0;
        sizes.push_back(is_there ? size : -HUGE_VAL);
        if (const auto integer = integer_result(what, values[index]); is_there && integer) {
            integers.push_back(*integer);
        }
    }
    const bool are_integers = integers.size() == all.size();
    std::sort(all.begin(), all.end(), [&](const row& one, const row& other) {
        if (are_integers && integers[one.group] != integers[other.group]) {
            return integers[one.group] > integers[other.group];
        }
        if (sizes[one.group] != sizes[other.group]) {
            return sizes[one.group] > sizes[other.group];
        }
        for (std::size_t i = 0; i < one.keys->size(); ++i) {
            const int order = (*one.keys)[i].shown.compare((*other.keys)[i].shown);
            if (order != 0) {
                return order < 0;
            }
        }
        return one.group < other.group;
    });
    if (query().top != 0 && all.size() > query().top) {
        all.resize(query().top);
    }
    return all;
}

}  // namespace elog
