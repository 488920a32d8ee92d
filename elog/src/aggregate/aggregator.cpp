// SPDX-License-Identifier: MIT
#include "aggregate/aggregator.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "aggregate/aggregate_values.hpp"
#include "predicate/literal_values.hpp"

namespace elog {
namespace {

// Limit on the memory for keys and their texts.
constexpr std::size_t key_bytes_max = std::size_t{64} << 20U;

/// Whether the field has a usable value.
bool has_value(const stored_location& place, const record_view& record) noexcept {
    std::string_view ignored;
    return is_there(place, record) &&
           (place.type != eventlog::field_type::text || load_span(place, record, ignored));
}

bool is_measured(eventlog::format how) noexcept {
    using eventlog::format;
    return how == format::duration || how == format::realtime || how == format::monotonic ||
           how == format::byte_size;
}

}  // namespace

aggregator::aggregator(aggregation query, record_filter* filter, std::size_t keys_max,
                       event_choice chosen)
    : query_(std::move(query)),
      filter_(filter),
      keys_max_(keys_max),
      chosen_(std::move(chosen)),
      display_formats_(query_.calls.size()),
      bucket_widths_(query_.calls.size(), 0.0),
      known_calls_(query_.calls.size(), false),
      known_keys_(query_.keys.size(), false) {}

// Plans -------------------------------------------------------------------------------------------

void aggregator::add(const provider_instance& provider) {
    if (plans_.size() <= provider.id) {
        plans_.resize(std::size_t{provider.id} + 1);
    }
    const auto kept = std::make_shared<const provider_instance>(provider);
    std::vector<event_plan>& plans = plans_[provider.id];
    plans.clear();
    mismatches_.begin_provider(provider.id);
    std::optional<user_error> mistake;
    for (std::size_t i = 0; i < kept->schema.events.size(); ++i) {
        const event_schema& event = kept->schema.events[i];
        plans.emplace_back();
        if (chosen_ && !chosen_(kept->schema, event)) {
            continue;
        }
        has_events_ = true;
        names_.add(kept->schema, event);
        note_names(*kept, event);
        const auto verdict = filter_ == nullptr
                                 ? record_filter::verdict::always
                                 : filter_->verdict_of(provider.id, static_cast<std::uint16_t>(i));
        if (verdict == record_filter::verdict::never) {
            continue;
        }
        const std::vector<display_format> looks = display_formats_;
        const std::vector<double> steps = bucket_widths_;
        try {
            plans.back() = plan_event(kept, event);
            if (plans.back().wanted) {
                mismatches_.note_compatible(kept->schema, event);
            }
        } catch (const user_error& error) {
            // An unsuitable event must not determine the display format of other events.
            display_formats_ = looks;
            bucket_widths_ = steps;
            mismatches_.note(*kept, i, error);
            mistake = mistake ? mistake : std::optional(error);
            continue;
        }
        plans.back().needs_test = verdict == record_filter::verdict::depends;
    }
    if (mistake) {
        throw user_error(*mistake);
    }
}

void aggregator::note_names(const provider_instance& provider, const event_schema& event) {
    const auto is_known = [&](field_reference name) {
        name.has_index = false;
        return find_location(name, provider, event, {}).has_value();
    };
    for (std::size_t i = 0; i < query_.calls.size(); ++i) {
        known_calls_[i] = known_calls_[i] || !query_.calls[i].of || is_known(*query_.calls[i].of);
    }
    for (std::size_t i = 0; i < query_.keys.size(); ++i) {
        known_keys_[i] = known_keys_[i] || is_known(query_.keys[i].of);
    }
}

void aggregator::check_names() const {
    if (!has_events_) {
        return;
    }
    for (std::size_t i = 0; i < query_.calls.size(); ++i) {
        if (!known_calls_[i]) {
            names_.reject(query_.source, *query_.calls[i].of);
        }
    }
    for (std::size_t i = 0; i < query_.keys.size(); ++i) {
        if (!known_keys_[i]) {
            names_.reject(query_.source, query_.keys[i].of);
        }
    }
}

aggregator::event_plan aggregator::plan_event(
    const std::shared_ptr<const provider_instance>& provider, const event_schema& event) {
    event_plan plan;
    plan.provider = provider;
    plan.has_fixed_key = true;
    bool reads_payload = false;
    for (const aggregate_key& key : query_.keys) {
        const std::optional<value_location> place =
            find_location(key.of, *provider, event, query_.source);
        if (!place) {
            return {};
        }
        if (place->stored.is == value_class::array) {
            reject_expression(query_.source, key.of.column,
                              fmt::format("'{}' of {}:{} is an array: say which element, for "
                                          "example {}[0].",
                                          key.text, provider->schema.name, event.name, key.text));
        }
        plan.has_fixed_key = plan.has_fixed_key && place->stored.source == field_source::fixed;
        reads_payload = reads_payload || place->stored.source == field_source::payload;
        plan.key_format_ids.push_back(key_format_id(*place));
        plan.keys.push_back(*place);
    }
    for (std::size_t i = 0; i < query_.calls.size(); ++i) {
        plan.calls.push_back(plan_call(i, *provider, event));
        const call_input& input = plan.calls.back();
        plan.wanted = plan.wanted || input.taken;
        reads_payload =
            reads_payload || (input.has_field && input.place.source == field_source::payload);
    }
    plan.size = reads_payload ? event.fixed_size : 0;
    return plan;
}

aggregator::call_input aggregator::plan_call(std::size_t call, const provider_instance& provider,
                                             const event_schema& event) {
    const aggregate_call& query = query_.calls[call];
    call_input input;
    input.taken = true;
    if (!query.of) {
        return input;
    }
    const std::optional<value_location> place =
        find_location(*query.of, provider, event, query_.source);
    input.taken = place.has_value();
    if (!place) {
        return input;
    }
    input.has_field = true;
    input.place = place->stored;
    input.fixed_bits = place->fixed_bits;
    if (query.what == aggregate_function::count) {
        return input;
    }
    const std::string called =
        fmt::format("'{}' of {}:{}", query.of->name, provider.schema.name, event.name);
    if (!is_number(place->stored.is)) {
        reject_expression(query_.source, query.of->column,
                          fmt::format("{} is {}; {} computes with numbers.", called,
                                      name_of(place->stored.is), query.text));
    }
    unify_display_format(call, *place, called);
    if (query.what == aggregate_function::hist) {
        plan_bucket_width(call, *place, input, called);
    }
    return input;
}

/// Fixes a call's display format at the first field, and rejects fields with another unit:
/// nanoseconds and bytes have no common sum.
void aggregator::unify_display_format(std::size_t call, const value_location& place,
                                      const std::string& called) {
    display_format& display = display_formats_[call];
    const bool differs =
        display.known && (display.unit != place.unit ||
                          (display.format != place.format &&
                           (is_measured(display.format) || is_measured(place.format))));
    if (differs) {
        reject_expression(query_.source, query_.calls[call].of->column,
                          fmt::format("{} has another unit than that of other events. Pick one "
                                      "with --where, for example --where 'event == \"...\"'.",
                                      called));
    }
    if (!display.known) {
        display.known = true;
        display.format = place.format;
        display.unit = place.unit;
    }
    display.floating = display.floating || place.stored.is == value_class::floating;
}

void aggregator::plan_bucket_width(std::size_t call, const value_location& place, call_input& input,
                                   const std::string& called) {
    const aggregate_call& query = query_.calls[call];
    const bool floating = place.stored.is == value_class::floating;
    input.powers_of_two = place.format == eventlog::format::byte_size;
    if (!query.step) {
        if (floating) {
            reject_expression(query_.source, query.column,
                              fmt::format("{} is no integer: say how wide a bucket is, for "
                                          "example hist({}, 0.5).",
                                          called, query.of->name));
        }
        return;
    }
    if (floating) {
        input.step = floating_literal(query_.source, place, *query.step, called);
    } else {
        const ratio step = literal_in_field_unit(query_.source, place, *query.step, called);
        const wide_integer whole = step.numerator / step.denominator;
        if (whole * step.denominator != step.numerator || whole > INT64_MAX) {
            reject_expression(query_.source, query.step->column,
                              fmt::format("{} is an integer: the width of a bucket must be one, "
                                          "too.",
                                          called));
        }
        input.integer_bucket_width = static_cast<std::uint64_t>(whole);
        input.step = static_cast<double>(input.integer_bucket_width);
    }
    bucket_widths_[call] = input.step;
}

std::uint32_t aggregator::key_format_id(const value_location& place) {
    return key_format_ids_
        .try_emplace(key_format_signature(place),
                     static_cast<std::uint32_t>(key_format_ids_.size()))
        .first->second;
}

// Records -----------------------------------------------------------------------------------------

void aggregator::take(const record_view& record, const clock_converter& clock) {
    const eventlog_record& header = record.header;
    if (header.provider >= plans_.size() || header.event >= plans_[header.provider].size() ||
        !is_supported(header)) {
        ++unknown_;
        return;
    }
    event_plan& plan = plans_[header.provider][header.event];
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
    const bool has_input =
        std::any_of(plan.calls.begin(), plan.calls.end(), [&](const call_input& input) {
            return input.taken && (!input.has_field || has_value(input.place, record));
        });
    if (!has_input) {
        return;
    }
    const std::size_t group = find_or_add_group(plan, record, clock, 1);
    if (group != key_table::none) {
        ++taken_;
        add_values(plan, &values_[group * query_.calls.size()], record, clock);
    }
}

void aggregator::merge_partial(const record_view& like, const clock_converter& clock,
                               const partial_sums& counted) {
    event_plan& plan = plans_[like.header.provider][like.header.event];
    if (!plan.wanted) {
        mismatches_.count(like.header, counted.records);
        return;
    }
    const std::size_t group = find_or_add_group(plan, like, clock, counted.records);
    if (group == key_table::none) {
        return;
    }
    taken_ += counted.records;
    accumulator* const into = &values_[group * query_.calls.size()];
    for (std::size_t i = 0; i < plan.calls.size(); ++i) {
        if (plan.calls[i].taken) {
            merge_partial_call(query_.calls[i].what, plan.calls[i], into[i], like, clock,
                               counted.records, counted.sums[i]);
        }
    }
}

void aggregator::merge_partial(const record_view& like, const clock_converter& clock,
                               std::uint64_t records,
                               const std::vector<partial_aggregate>& values) {
    event_plan& plan = plans_[like.header.provider][like.header.event];
    if (!plan.wanted) {
        mismatches_.count(like.header, records);
        return;
    }
    const std::size_t group = find_or_add_group(plan, like, clock, records);
    if (group == key_table::none) {
        return;
    }
    taken_ += records;
    accumulator* const into = &values_[group * query_.calls.size()];
    for (std::size_t i = 0; i < plan.calls.size(); ++i) {
        if (plan.calls[i].taken && values[i].count != 0) {
            merge_partial_call(query_.calls[i].what, plan.calls[i], into[i], values[i]);
        }
    }
}

/// Counts a record of an unsuitable event if the filter matches it. The filter counts the records
/// that it cannot test.
void aggregator::count_unsuited(const record_view& record, const clock_converter& clock) {
    if (filter_ == nullptr || filter_->matches(record, clock)) {
        mismatches_.count(record.header);
    }
}

std::uint64_t aggregator::all_mismatches() const noexcept {
    return mismatches_.counted() + (filter_ == nullptr ? 0 : filter_->mismatches().counted());
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
        texts.push_back(format_key(place, plan.provider->schema, record, clock));
        text_size_ += texts.back().shown.size() + texts.back().json.size();
    }
    values_.resize(values_.size() + query_.calls.size());
}

void aggregator::add_values(const event_plan& plan, accumulator* into, const record_view& record,
                            const clock_converter& clock) {
    for (std::size_t i = 0; i < plan.calls.size(); ++i) {
        const call_input& input = plan.calls[i];
        if (!input.taken) {
            continue;
        }
        const aggregate_function what = query_.calls[i].what;
        if (what == aggregate_function::count) {
            if (!input.has_field || has_value(input.place, record)) {
                into[i].count_one();
            }
        } else if (is_there(input.place, record)) {
            add_number(what, input, into[i], record, clock);
        }
    }
}

wide_integer aggregator::load_integer(const call_input& input, const record_view& record,
                                      const clock_converter& clock) noexcept {
    const std::uint64_t bits = input.place.source == field_source::fixed
                                   ? input.fixed_bits
                                   : load_bits(input.place, record, clock);
    return integer_of(bits, input.place.is_signed);
}

void aggregator::add_number(aggregate_function what, const call_input& input, accumulator& into,
                            const record_view& record, const clock_converter& clock) {
    const auto add = [&](auto value) {
        switch (what) {
            case aggregate_function::sum:
            case aggregate_function::avg:
                into.add_sum(value);
                break;
            case aggregate_function::min:
            case aggregate_function::max:
                into.add_min_max(value);
                break;
            case aggregate_function::stddev:
                into.add_for_variance(value);
                break;
            case aggregate_function::quantize:
                into.count_one();
                into.buckets().add_log2(value);
                break;
            default:
                into.count_one();
                break;
        }
    };
    if (input.place.is == value_class::floating) {
        const double value = load_double(input.place, record, clock);
        add(value);
        if (what == aggregate_function::hist) {
            into.buckets().add_linear(value, input.step);
        }
        return;
    }
    const wide_integer value = load_integer(input, record, clock);
    add(value);
    if (what == aggregate_function::hist && input.integer_bucket_width != 0) {
        into.buckets().add_linear(value, input.integer_bucket_width);
    } else if (what == aggregate_function::hist) {
        into.buckets().add_linear(value, input.powers_of_two);
    }
}

void aggregator::add_to_buckets(aggregate_function what, const call_input& input, accumulator& into,
                                wide_integer number, std::uint64_t times) {
    if (what == aggregate_function::quantize) {
        into.buckets().add_log2(number, times);
    } else if (input.integer_bucket_width != 0) {
        into.buckets().add_linear(number, input.integer_bucket_width, times);
    } else {
        into.buckets().add_linear(number, input.powers_of_two, times);
    }
}

void aggregator::merge_partial_call(aggregate_function what, const call_input& input,
                                    accumulator& into, const record_view& like,
                                    const clock_converter& clock, std::uint64_t records,
                                    wide_integer sum) {
    if (what == aggregate_function::sum || what == aggregate_function::avg) {
        into.add_partial_sum(sum, records);
        return;
    }
    into.count_many(records);
    if (what == aggregate_function::count) {
        return;
    }
    add_to_buckets(what, input, into, load_integer(input, like, clock), records);
}

void aggregator::merge_partial_call(aggregate_function what, const call_input& input,
                                    accumulator& into, const partial_aggregate& values) {
    switch (what) {
        case aggregate_function::sum:
        case aggregate_function::avg:
            into.add_partial_sum(values.sum, values.count);
            return;
        case aggregate_function::min:
        case aggregate_function::max:
            into.add_min_max(values.extreme);
            return;
        case aggregate_function::stddev:
            into.add_partial_variance(values.sum, values.squares, values.squares_high,
                                      values.count);
            return;
        default:
            into.count_many(values.count);
    }
    for (const auto& [number, times] : values.numbers) {
        add_to_buckets(what, input, into, number, times);
    }
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
    lost_ = 0;
    overflowed_ = 0;
    damaged_ = 0;
    unknown_ = 0;
    mismatches_before_ = all_mismatches();
}

// Rows --------------------------------------------------------------------------------------------

std::vector<aggregator::row> aggregator::rows() const {
    const auto first = std::find_if(query_.calls.begin(), query_.calls.end(),
                                    [](const auto& call) { return !is_distribution(call.what); });
    const auto index =
        static_cast<std::size_t>(first == query_.calls.end() ? 0 : first - query_.calls.begin());
    std::vector<row> all;
    std::vector<double> sizes;
    for (std::size_t i = 0; i < texts_.size(); ++i) {
        const accumulator* values = &values_[i * query_.calls.size()];
        all.push_back({i, &texts_[i], values});
        const double size = numeric_value(query_.calls[index].what, values[index]);
        // NaN and missing values are last.
        sizes.push_back(!std::isnan(size) && values[index].count() != 0 ? size : -HUGE_VAL);
    }
    std::sort(all.begin(), all.end(), [&](const row& one, const row& other) {
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
    if (query_.top != 0 && all.size() > query_.top) {
        all.resize(query_.top);
    }
    return all;
}

}  // namespace elog
