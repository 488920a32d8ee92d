// SPDX-License-Identifier: MIT
#include "aggregate/aggregate_planner.hpp"

#include <optional>
#include <utility>

#include "aggregate/key_format.hpp"
#include "predicate/literal_values.hpp"

namespace elog {
namespace {

bool is_measured(eventlog::format how) noexcept {
    using eventlog::format;
    return how == format::duration || how == format::realtime || how == format::monotonic ||
           how == format::byte_size;
}

}  // namespace

aggregate_planner::aggregate_planner(aggregation query, event_choice chosen)
    : query_(std::move(query)),
      chosen_(std::move(chosen)),
      display_formats_(query_.calls.size()),
      bucket_widths_(query_.calls.size(), 0.0),
      known_calls_(query_.calls.size(), false),
      known_keys_(query_.keys.size(), false) {}

void aggregate_planner::plan(const provider_instance& provider, const record_filter* filter,
                             std::vector<event_plan>& plans) {
    const auto kept = std::make_shared<const provider_instance>(provider);
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
        const auto verdict = filter == nullptr
                                 ? record_filter::verdict::always
                                 : filter->verdict_of(provider.id, static_cast<std::uint16_t>(i));
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

void aggregate_planner::note_names(const provider_instance& provider, const event_schema& event) {
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

void aggregate_planner::check_names() const {
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

event_plan aggregate_planner::plan_event(const std::shared_ptr<const provider_instance>& provider,
                                         const event_schema& event) {
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
        reads_payload = reads_payload || is_in_payload(place->stored.source);
        plan.key_format_ids.push_back(key_format_id(*place));
        plan.keys.push_back(*place);
    }
    for (std::size_t i = 0; i < query_.calls.size(); ++i) {
        plan.calls.push_back(plan_call(i, *provider, event));
        const call_input& input = plan.calls.back();
        plan.wanted = plan.wanted || input.taken;
        reads_payload = reads_payload || (input.has_field && is_in_payload(input.place.source));
    }
    plan.size = reads_payload ? event.fixed_size : 0;
    return plan;
}

call_input aggregate_planner::plan_call(std::size_t call, const provider_instance& provider,
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
void aggregate_planner::unify_display_format(std::size_t call, const value_location& place,
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
    display.size = std::max(display.size, eventlog::size_of(place.stored.type));
    display.floating = display.floating || place.stored.is == value_class::floating;
}

void aggregate_planner::plan_bucket_width(std::size_t call, const value_location& place,
                                          call_input& input, const std::string& called) {
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

std::uint32_t aggregate_planner::key_format_id(const value_location& place) {
    return key_format_ids_
        .try_emplace(key_format_signature(place),
                     static_cast<std::uint32_t>(key_format_ids_.size()))
        .first->second;
}

}  // namespace elog
