// SPDX-License-Identifier: MIT
#include "aggregate/aggregate_values.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "aggregate/key_texts.hpp"
#include "text/json_text.hpp"

namespace elog {
namespace {

bool fits_64(wide_integer number) noexcept {
    return number >= std::numeric_limits<std::int64_t>::min() &&
           number <= std::numeric_limits<std::int64_t>::max();
}

/// A point in time plus another is none: sums of times are numbers.
std::string shown_integer(wide_integer number, const value_look& look) {
    const bool is_plain = look.format == eventlog::format::plain ||
                          look.format == eventlog::format::decimal || !fits_64(number);
    if (is_plain) {
        return decimal(number) + look.unit;
    }
    fmt::memory_buffer out;
    append_number(out, static_cast<std::int64_t>(number), look.format, look.unit);
    return fmt::to_string(out);
}

std::string shown_double(double number, const value_look& look) {
    const bool measured = look.format == eventlog::format::duration ||
                          look.format == eventlog::format::byte_size ||
                          look.format == eventlog::format::realtime;
    if (measured && std::fabs(number) < 9e18) {
        return shown_integer(static_cast<wide_integer>(std::nearbyint(number)), look);
    }
    return fmt::format("{:.6g}{}", number, look.unit);
}

bool is_exact(aggregate_function what, const accumulator& values) noexcept {
    return what == aggregate_function::count ||
           (values.floats() == 0 &&
            (what == aggregate_function::sum || what == aggregate_function::min ||
             what == aggregate_function::max));
}

wide_integer exact_value(aggregate_function what, const accumulator& values) noexcept {
    switch (what) {
        case aggregate_function::sum:
            return values.sum();
        case aggregate_function::min:
            return values.smallest();
        case aggregate_function::max:
            return values.largest();
        default:
            return static_cast<wide_integer>(values.count());
    }
}

/// A sum of nothing is 0, an average of nothing is nothing.
bool has_value(aggregate_function what, const accumulator& values) noexcept {
    return values.count() != 0 || what == aggregate_function::count ||
           what == aggregate_function::sum;
}

}  // namespace

std::string decimal(wide_integer number) {
    auto rest = static_cast<wide_unsigned>(number < 0 ? -number : number);
    std::string digits;
    do {
        digits.push_back(static_cast<char>('0' + static_cast<int>(rest % 10)));
        rest /= 10;
    } while (rest != 0);
    if (number < 0) {
        digits.push_back('-');
    }
    std::reverse(digits.begin(), digits.end());
    return digits;
}

double plain_value(aggregate_function what, const accumulator& values) noexcept {
    switch (what) {
        case aggregate_function::sum:
            return values.floating_sum();
        case aggregate_function::avg:
            return values.average();
        case aggregate_function::min:
            return values.floating_smallest();
        case aggregate_function::max:
            return values.floating_largest();
        case aggregate_function::stddev:
            return values.deviation();
        default:
            return static_cast<double>(values.count());
    }
}

std::string shown_value(aggregate_function what, const accumulator& values,
                        const value_look& look) {
    if (!has_value(what, values)) {
        return "-";
    }
    if (what == aggregate_function::count) {
        return decimal(exact_value(what, values));
    }
    value_look of_result = look;
    const bool is_time = look.format == eventlog::format::realtime ||
                         look.format == eventlog::format::error_number ||
                         look.format == eventlog::format::hexadecimal;
    if (what == aggregate_function::sum && is_time) {
        of_result.format = eventlog::format::plain;
    } else if (what == aggregate_function::stddev && look.format == eventlog::format::realtime) {
        of_result.format = eventlog::format::duration;
    }
    return is_exact(what, values) ? shown_integer(exact_value(what, values), of_result)
                                  : shown_double(plain_value(what, values), of_result);
}

std::string json_value(aggregate_function what, const accumulator& values) {
    if (!has_value(what, values)) {
        return "null";
    }
    if (is_exact(what, values)) {
        return decimal(exact_value(what, values));
    }
    fmt::memory_buffer out;
    append_json_number(out, plain_value(what, values));
    return fmt::to_string(out);
}

std::vector<shown_bucket> shown_buckets(aggregate_function what, const accumulator& values,
                                        const value_look& look, double step) {
    std::vector<shown_bucket> all;
    for (const bucket_counts::bucket& each : values.buckets().buckets()) {
        shown_bucket& made = all.emplace_back();
        made.count = each.count;
        if (what == aggregate_function::hist && look.floating) {
            const auto index = static_cast<double>(each.index);
            made.begin = fmt::format("{}", index * step);
            made.end = fmt::format("{}", (index + 1) * step);
            made.label = fmt::format("{:.6g}{}", index * step, look.unit);
            continue;
        }
        wide_integer begin = each.index * values.buckets().width();
        wide_integer end = begin + values.buckets().width();
        if (what == aggregate_function::quantize) {
            bucket_counts::quantized_edges(static_cast<int>(each.index), begin, end);
        }
        made.begin = decimal(begin);
        made.end = decimal(end);
        made.label = shown_integer(begin, look);
    }
    return all;
}

}  // namespace elog
