// SPDX-License-Identifier: MIT
#include "aggregate/aggregator.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "aggregate/aggregate_values.hpp"
#include "predicate/literal_values.hpp"

namespace elog {
namespace {

// Of keys and their texts.
constexpr std::size_t key_bytes_max = std::size_t{64} << 20U;

/// Whether the field has a value that can be used.
bool has_value(const stored_place& place, const record_view& record) noexcept {
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

aggregator::aggregator(aggregation asked, record_filter* filter, std::size_t keys_max,
                       event_choice chosen)
    : asked_(std::move(asked)),
      filter_(filter),
      keys_max_(keys_max),
      chosen_(std::move(chosen)),
      looks_(asked_.calls.size()),
      steps_(asked_.calls.size(), 0.0),
      known_calls_(asked_.calls.size(), false),
      known_keys_(asked_.keys.size(), false) {}

// Plans -------------------------------------------------------------------------------------------

void aggregator::add(const provider_instance& provider) {
    if (plans_.size() <= provider.id) {
        plans_.resize(std::size_t{provider.id} + 1);
    }
    const auto kept = std::make_shared<const provider_instance>(provider);
    std::vector<event_plan>& plans = plans_[provider.id];
    plans.clear();
    unsuited_.begin_provider(provider.id);
    std::optional<failure> mistake;
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
        const std::vector<value_look> looks = looks_;
        const std::vector<double> steps = steps_;
        try {
            plans.back() = plan_event(kept, event);
            if (plans.back().wanted) {
                unsuited_.note_suited(kept->schema, event);
            }
        } catch (const failure& error) {
            // How its values look is no rule for those of others.
            looks_ = looks;
            steps_ = steps;
            unsuited_.note(*kept, i, error);
            mistake = mistake ? mistake : std::optional(error);
            continue;
        }
        plans.back().needs_test = verdict == record_filter::verdict::depends;
    }
    if (mistake) {
        throw failure(*mistake);
    }
}

void aggregator::note_names(const provider_instance& provider, const event_schema& event) {
    const auto is_known = [&](reference name) {
        name.has_index = false;
        return find_place(name, provider, event, {}).has_value();
    };
    for (std::size_t i = 0; i < asked_.calls.size(); ++i) {
        known_calls_[i] = known_calls_[i] || !asked_.calls[i].of || is_known(*asked_.calls[i].of);
    }
    for (std::size_t i = 0; i < asked_.keys.size(); ++i) {
        known_keys_[i] = known_keys_[i] || is_known(asked_.keys[i].of);
    }
}

void aggregator::check_names() const {
    if (!has_events_) {
        return;
    }
    for (std::size_t i = 0; i < asked_.calls.size(); ++i) {
        if (!known_calls_[i]) {
            names_.refuse(asked_.source, *asked_.calls[i].of);
        }
    }
    for (std::size_t i = 0; i < asked_.keys.size(); ++i) {
        if (!known_keys_[i]) {
            names_.refuse(asked_.source, asked_.keys[i].of);
        }
    }
}

aggregator::event_plan aggregator::plan_event(
    const std::shared_ptr<const provider_instance>& provider, const event_schema& event) {
    event_plan plan;
    plan.provider = provider;
    plan.has_fixed_key = true;
    bool reads_payload = false;
    for (const aggregate_key& key : asked_.keys) {
        const std::optional<record_place> place =
            find_place(key.of, *provider, event, asked_.source);
        if (!place) {
            return {};
        }
        if (place->stored.is == value_class::array) {
            refuse_expression(asked_.source, key.of.column,
                              fmt::format("'{}' of {}:{} is an array: say which element, for "
                                          "example {}[0].",
                                          key.text, provider->schema.name, event.name, key.text));
        }
        plan.has_fixed_key = plan.has_fixed_key && place->stored.home == place_home::fixed;
        reads_payload = reads_payload || place->stored.home == place_home::payload;
        plan.key_looks.push_back(look_number(*place));
        plan.keys.push_back(*place);
    }
    for (std::size_t i = 0; i < asked_.calls.size(); ++i) {
        plan.calls.push_back(plan_call(i, *provider, event));
        const call_input& input = plan.calls.back();
        plan.wanted = plan.wanted || input.taken;
        reads_payload =
            reads_payload || (input.has_field && input.place.home == place_home::payload);
    }
    plan.size = reads_payload ? event.fixed_size : 0;
    return plan;
}

aggregator::call_input aggregator::plan_call(std::size_t call, const provider_instance& provider,
                                             const event_schema& event) {
    const aggregate_call& asked = asked_.calls[call];
    call_input input;
    input.taken = true;
    if (!asked.of) {
        return input;
    }
    const std::optional<record_place> place = find_place(*asked.of, provider, event, asked_.source);
    input.taken = place.has_value();
    if (!place) {
        return input;
    }
    input.has_field = true;
    input.place = place->stored;
    input.fixed_bits = place->fixed_bits;
    if (asked.what == aggregate_function::count) {
        return input;
    }
    const std::string called =
        fmt::format("'{}' of {}:{}", asked.of->name, provider.schema.name, event.name);
    if (!is_number(place->stored.is)) {
        refuse_expression(asked_.source, asked.of->column,
                          fmt::format("{} is {}; {} computes with numbers.", called,
                                      name_of(place->stored.is), asked.text));
    }
    agree_on_look(call, *place, called);
    if (asked.what == aggregate_function::hist) {
        plan_step(call, *place, input, called);
    }
    return input;
}

/// Nanoseconds and bytes, or milliseconds and nanoseconds, make no sum.
void aggregator::agree_on_look(std::size_t call, const record_place& place,
                               const std::string& called) {
    value_look& look = looks_[call];
    const bool differs =
        look.known &&
        (look.unit != place.unit ||
         (look.format != place.format && (is_measured(look.format) || is_measured(place.format))));
    if (differs) {
        refuse_expression(asked_.source, asked_.calls[call].of->column,
                          fmt::format("{} has another unit than that of other events. Pick one "
                                      "with --where, for example --where 'event == \"...\"'.",
                                      called));
    }
    if (!look.known) {
        look.known = true;
        look.format = place.format;
        look.unit = place.unit;
    }
    look.floating = look.floating || place.stored.is == value_class::floating;
}

void aggregator::plan_step(std::size_t call, const record_place& place, call_input& input,
                           const std::string& called) {
    const aggregate_call& asked = asked_.calls[call];
    const bool floating = place.stored.is == value_class::floating;
    input.powers_of_two = place.format == eventlog::format::byte_size;
    if (!asked.step) {
        if (floating) {
            refuse_expression(asked_.source, asked.column,
                              fmt::format("{} is no integer: say how wide a bucket is, for "
                                          "example hist({}, 0.5).",
                                          called, asked.of->name));
        }
        return;
    }
    if (floating) {
        input.step = floating_value(asked_.source, place, *asked.step, called);
    } else {
        const ratio step = scaled_number(asked_.source, place, *asked.step, called);
        const wide_integer whole = step.numerator / step.denominator;
        if (whole * step.denominator != step.numerator || whole > INT64_MAX) {
            refuse_expression(asked_.source, asked.step->column,
                              fmt::format("{} is an integer: the width of a bucket must be one, "
                                          "too.",
                                          called));
        }
        input.whole_step = static_cast<std::uint64_t>(whole);
        input.step = static_cast<double>(input.whole_step);
    }
    steps_[call] = input.step;
}

std::uint32_t aggregator::look_number(const record_place& place) {
    return key_looks_.try_emplace(look_of_key(place), static_cast<std::uint32_t>(key_looks_.size()))
        .first->second;
}

// Records -----------------------------------------------------------------------------------------

void aggregator::take(const record_view& record, const clock_table& clock) {
    const eventlog_record& header = record.header;
    if (header.provider >= plans_.size() || header.event >= plans_[header.provider].size() ||
        !is_understood(header)) {
        ++unknown_;
        return;
    }
    event_plan& plan = plans_[header.provider][header.event];
    if (!plan.wanted) {
        leave_out(record, clock);
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
    const std::size_t group = group_of(plan, record, clock, 1);
    if (group != key_table::none) {
        ++taken_;
        add_values(plan, &values_[group * asked_.calls.size()], record, clock);
    }
}

void aggregator::take_counted(const record_view& like, const clock_table& clock,
                              const counted_records& counted) {
    event_plan& plan = plans_[like.header.provider][like.header.event];
    if (!plan.wanted) {
        unsuited_.count(like.header, counted.records);
        return;
    }
    const std::size_t group = group_of(plan, like, clock, counted.records);
    if (group == key_table::none) {
        return;
    }
    taken_ += counted.records;
    accumulator* const into = &values_[group * asked_.calls.size()];
    for (std::size_t i = 0; i < plan.calls.size(); ++i) {
        if (plan.calls[i].taken) {
            add_counted(asked_.calls[i].what, plan.calls[i], into[i], like, clock, counted.records,
                        counted.sums[i]);
        }
    }
}

void aggregator::take_counted(const record_view& like, const clock_table& clock,
                              std::uint64_t records, const std::vector<counted_values>& values) {
    event_plan& plan = plans_[like.header.provider][like.header.event];
    if (!plan.wanted) {
        unsuited_.count(like.header, records);
        return;
    }
    const std::size_t group = group_of(plan, like, clock, records);
    if (group == key_table::none) {
        return;
    }
    taken_ += records;
    accumulator* const into = &values_[group * asked_.calls.size()];
    for (std::size_t i = 0; i < plan.calls.size(); ++i) {
        if (plan.calls[i].taken && values[i].count != 0) {
            add_counted(asked_.calls[i].what, plan.calls[i], into[i], values[i]);
        }
    }
}

/// Whether that was wanted, too, the filter says, and counts itself what it cannot ask.
void aggregator::leave_out(const record_view& record, const clock_table& clock) {
    if (filter_ == nullptr || filter_->matches(record, clock)) {
        unsuited_.count(record.header);
    }
}

std::uint64_t aggregator::all_unsuited() const noexcept {
    return unsuited_.counted() + (filter_ == nullptr ? 0 : filter_->unsuited().counted());
}

std::size_t aggregator::group_of(event_plan& plan, const record_view& record,
                                 const clock_table& clock, std::uint64_t records) {
    if (plan.has_fixed_key && plan.group != key_table::none) {
        return plan.group;
    }
    if (!build_key(plan, record, clock)) {
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

bool aggregator::build_key(const event_plan& plan, const record_view& record,
                           const clock_table& clock) {
    key_.clear();
    for (std::size_t i = 0; i < plan.keys.size(); ++i) {
        for (unsigned shift = 0; shift < 32; shift += 8) {
            key_.push_back(static_cast<char>(plan.key_looks[i] >> shift));
        }
        if (!append_key(key_, plan.keys[i], record, clock)) {
            return false;
        }
    }
    return true;
}

void aggregator::add_group(const event_plan& plan, const record_view& record,
                           const clock_table& clock) {
    std::vector<key_text>& texts = texts_.emplace_back();
    for (const record_place& place : plan.keys) {
        texts.push_back(text_of_key(place, plan.provider->schema, record, clock));
        text_size_ += texts.back().shown.size() + texts.back().json.size();
    }
    values_.resize(values_.size() + asked_.calls.size());
}

void aggregator::add_values(const event_plan& plan, accumulator* into, const record_view& record,
                            const clock_table& clock) {
    for (std::size_t i = 0; i < plan.calls.size(); ++i) {
        const call_input& input = plan.calls[i];
        if (!input.taken) {
            continue;
        }
        const aggregate_function what = asked_.calls[i].what;
        if (what == aggregate_function::count) {
            if (!input.has_field || has_value(input.place, record)) {
                into[i].count_one();
            }
        } else if (is_there(input.place, record)) {
            add_number(what, input, into[i], record, clock);
        }
    }
}

wide_integer aggregator::whole_value(const call_input& input, const record_view& record,
                                     const clock_table& clock) noexcept {
    const std::uint64_t bits = input.place.home == place_home::fixed
                                   ? input.fixed_bits
                                   : load_bits(input.place, record, clock);
    return input.place.is_signed ? wide_integer{static_cast<std::int64_t>(bits)}
                                 : wide_integer{bits};
}

void aggregator::add_number(aggregate_function what, const call_input& input, accumulator& into,
                            const record_view& record, const clock_table& clock) {
    const auto add = [&](auto value) {
        switch (what) {
            case aggregate_function::sum:
            case aggregate_function::avg:
                into.add_sum(value);
                break;
            case aggregate_function::min:
            case aggregate_function::max:
                into.add_extremes(value);
                break;
            case aggregate_function::stddev:
                into.add_spread(value);
                break;
            case aggregate_function::quantize:
                into.count_one();
                into.buckets().add_quantized(value);
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
    const wide_integer value = whole_value(input, record, clock);
    add(value);
    if (what == aggregate_function::hist && input.whole_step != 0) {
        into.buckets().add_linear(value, input.whole_step);
    } else if (what == aggregate_function::hist) {
        into.buckets().add_linear(value, input.powers_of_two);
    }
}

void aggregator::add_to_buckets(aggregate_function what, const call_input& input, accumulator& into,
                                wide_integer number, std::uint64_t times) {
    if (what == aggregate_function::quantize) {
        into.buckets().add_quantized(number, times);
    } else if (input.whole_step != 0) {
        into.buckets().add_linear(number, input.whole_step, times);
    } else {
        into.buckets().add_linear(number, input.powers_of_two, times);
    }
}

void aggregator::add_counted(aggregate_function what, const call_input& input, accumulator& into,
                             const record_view& like, const clock_table& clock,
                             std::uint64_t records, wide_integer sum) {
    if (what == aggregate_function::sum || what == aggregate_function::avg) {
        into.add_total(sum, records);
        return;
    }
    into.count_many(records);
    if (what == aggregate_function::count) {
        return;
    }
    add_to_buckets(what, input, into, whole_value(input, like, clock), records);
}

void aggregator::add_counted(aggregate_function what, const call_input& input, accumulator& into,
                             const counted_values& values) {
    switch (what) {
        case aggregate_function::sum:
        case aggregate_function::avg:
            into.add_total(values.sum, values.count);
            return;
        case aggregate_function::min:
        case aggregate_function::max:
            into.add_extremes(values.extreme);
            return;
        case aggregate_function::stddev:
            into.add_spreads(values.sum, values.squares, values.squares_above, values.count);
            return;
        default:
            into.count_many(values.count);
    }
    for (const auto& [number, times] : values.numbers) {
        add_to_buckets(what, input, into, number, times);
    }
}

void aggregator::start_over() {
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
    unsuited_before_ = all_unsuited();
}

// Rows --------------------------------------------------------------------------------------------

std::vector<aggregator::row> aggregator::rows() const {
    const auto first = std::find_if(asked_.calls.begin(), asked_.calls.end(),
                                    [](const auto& call) { return !is_distribution(call.what); });
    const auto index =
        static_cast<std::size_t>(first == asked_.calls.end() ? 0 : first - asked_.calls.begin());
    std::vector<row> all;
    std::vector<double> sizes;
    for (std::size_t i = 0; i < texts_.size(); ++i) {
        const accumulator* values = &values_[i * asked_.calls.size()];
        all.push_back({i, &texts_[i], values});
        const double size = plain_value(asked_.calls[index].what, values[index]);
        // What is not a number comes last.
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
    if (asked_.top != 0 && all.size() > asked_.top) {
        all.resize(asked_.top);
    }
    return all;
}

}  // namespace elog
