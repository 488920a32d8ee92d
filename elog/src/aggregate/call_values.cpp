// SPDX-License-Identifier: MIT
#include "aggregate/call_values.hpp"

namespace elog {
namespace {

wide_integer load_integer(const call_input& input, const record_view& record,
                          const clock_converter& clock) noexcept {
    const std::uint64_t bits = input.place.source == field_source::fixed
                                   ? input.fixed_bits
                                   : load_bits(input.place, record, clock);
    return integer_of(bits, input.place.is_signed);
}

void add_to_buckets(aggregate_function what, const call_input& input, histogram& buckets,
                    wide_integer number, std::uint64_t times) {
    if (what == aggregate_function::quantize) {
        buckets.add_log2(number, times);
    } else if (input.integer_bucket_width != 0) {
        buckets.add_linear(number, input.integer_bucket_width, times);
    } else {
        buckets.add_linear(number, input.powers_of_two, times);
    }
}

void add_to_buckets(aggregate_function what, const call_input& input, histogram& buckets,
                    double number, std::uint64_t /*times*/) {
    if (what == aggregate_function::quantize) {
        buckets.add_log2(number);
    } else {
        buckets.add_linear(number, input.step);
    }
}

template <class Number>
void add_number(aggregate_function what, const call_input& input, accumulator& into,
                Number number) {
    switch (what) {
        case aggregate_function::sum:
        case aggregate_function::avg:
            return into.add_sum(number);
        case aggregate_function::min:
        case aggregate_function::max:
            return into.add_min_max(number);
        case aggregate_function::stddev:
            return into.add_for_variance(number);
        default:
            into.count_one();
            add_to_buckets(what, input, into.buckets(), number, 1);
    }
}

}  // namespace

bool has_input(const call_input& input, const record_view& record) noexcept {
    std::string_view ignored;
    return input.taken && (!input.has_field || (is_there(input.place, record) &&
                                                (input.place.type != eventlog::field_type::text ||
                                                 load_span(input.place, record, ignored))));
}

void add_value(aggregate_function what, const call_input& input, accumulator& into,
               const record_view& record, const clock_converter& clock) {
    if (what == aggregate_function::count) {
        if (has_input(input, record)) {
            into.count_one();
        }
    } else if (input.taken && is_there(input.place, record)) {
        if (input.place.is == value_class::floating) {
            add_number(what, input, into, load_double(input.place, record, clock));
        } else {
            add_number(what, input, into, load_integer(input, record, clock));
        }
    }
}

void merge_value(aggregate_function what, const call_input& input, accumulator& into,
                 const record_view& like, const clock_converter& clock, std::uint64_t records,
                 wide_integer sum) {
    if (what == aggregate_function::sum || what == aggregate_function::avg) {
        into.add_partial_sum(sum, records);
        return;
    }
    into.count_many(records);
    if (what != aggregate_function::count) {
        add_to_buckets(what, input, into.buckets(), load_integer(input, like, clock), records);
    }
}

void merge_value(aggregate_function what, const call_input& input, accumulator& into,
                 const partial_aggregate& values) {
    switch (what) {
        case aggregate_function::sum:
        case aggregate_function::avg:
            return into.add_partial_sum(values.sum, values.count);
        case aggregate_function::min:
        case aggregate_function::max:
            return into.add_min_max(values.extreme);
        case aggregate_function::stddev:
            return into.add_partial_variance(values.sum, values.squares, values.squares_high,
                                             values.count);
        default:
            into.count_many(values.count);
    }
    for (const auto& [number, times] : values.numbers) {
        add_to_buckets(what, input, into.buckets(), number, times);
    }
}

}  // namespace elog
