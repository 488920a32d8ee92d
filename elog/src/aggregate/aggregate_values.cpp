// SPDX-License-Identifier: MIT
#include "aggregate/aggregate_values.hpp"

#include <algorithm>
#include <cmath>

#include "schema/value_text.hpp"
#include "text/append_format.hpp"
#include "text/json_text.hpp"

namespace elog {
namespace {

std::string format_integer(wide_integer number, const display_format& display) {
    fmt::memory_buffer out;
    append_number(out, number, display.format, display.size);
    append_visible(out, display.unit);
    return fmt::to_string(out);
}

bool is_measured(const display_format& display) noexcept {
    return display.format == eventlog::format::duration ||
           display.format == eventlog::format::byte_size ||
           display.format == eventlog::format::realtime ||
           display.format == eventlog::format::monotonic;
}

std::string format_double(double number, const display_format& display) {
    constexpr double digits_shown = 1e6;  // beyond this, {:.6g} writes an exponent
    constexpr double integers_shown = 1e18;
    if (is_measured(display) && std::fabs(number) < integers_shown * integers_shown) {
        return format_integer(static_cast<wide_integer>(std::nearbyint(number)), display);
    }
    fmt::memory_buffer out;
    const double size = std::fabs(number);
    if (size >= digits_shown && size < integers_shown) {
        append_format(out, "{:.0f}", number);
    } else {
        append_format(out, "{:.6g}", number);
    }
    append_visible(out, display.unit);
    return fmt::to_string(out);
}

/// Doubles have 53 bits: times in nanoseconds need 61.
bool needs_all_digits(wide_integer number) noexcept {
    constexpr wide_integer exact = wide_integer{1} << 53;
    return number > exact || number < -exact;
}

std::string format_average(const accumulator& values, const display_format& display) {
    if (values.floats() == 0) {
        const wide_integer rounded = values.rounded_average();
        display_format plain = display;
        plain.format = is_measured(display) ? display.format : eventlog::format::plain;
        if (is_measured(display) || needs_all_digits(rounded)) {
            return format_integer(rounded, plain);
        }
    }
    return format_double(values.average(), display);
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

/// An empty sum is 0; an empty average does not exist.
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

std::optional<wide_integer> integer_result(aggregate_function what,
                                           const accumulator& values) noexcept {
    return is_exact(what, values) ? std::optional(exact_value(what, values)) : std::nullopt;
}

double numeric_value(aggregate_function what, const accumulator& values) noexcept {
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
            return values.standard_deviation();
        default:
            return static_cast<double>(values.count());
    }
}

std::string format_value(aggregate_function what, const accumulator& values,
                         const display_format& display) {
    if (!has_value(what, values)) {
        return "-";
    }
    if (what == aggregate_function::count) {
        return decimal(exact_value(what, values));
    }
    display_format of_result = display;
    const bool is_time = display.format == eventlog::format::realtime ||
                         display.format == eventlog::format::error_number ||
                         display.format == eventlog::format::hexadecimal;
    if (what == aggregate_function::sum && is_time) {
        of_result.format = eventlog::format::plain;
    } else if (what == aggregate_function::stddev &&
               (display.format == eventlog::format::realtime ||
                display.format == eventlog::format::monotonic)) {
        of_result.format = eventlog::format::duration;
    }
    if (what == aggregate_function::avg) {
        return format_average(values, of_result);
    }
    return is_exact(what, values) ? format_integer(exact_value(what, values), of_result)
                                  : format_double(numeric_value(what, values), of_result);
}

std::string format_json_value(aggregate_function what, const accumulator& values) {
    if (!has_value(what, values)) {
        return "null";
    }
    if (is_exact(what, values)) {
        return decimal(exact_value(what, values));
    }
    if (what == aggregate_function::avg && values.floats() == 0 &&
        needs_all_digits(values.rounded_average())) {
        return decimal(values.rounded_average());
    }
    const double number = numeric_value(what, values);
    if (!std::isfinite(number)) {
        return fmt::format("\"{}\"", name_of_infinite(number));  // null: there is no value
    }
    fmt::memory_buffer out;
    append_json_number(out, number);
    return fmt::to_string(out);
}

std::vector<formatted_bucket> format_buckets(aggregate_function what, const accumulator& values,
                                             const display_format& display, double step) {
    std::vector<formatted_bucket> all;
    for (const histogram::bucket& each : values.buckets().buckets()) {
        formatted_bucket& made = all.emplace_back();
        made.count = each.count;
        if (what == aggregate_function::hist && display.floating) {
            const auto index = static_cast<double>(each.index);
            made.begin = fmt::format("{}", index * step);
            made.end = fmt::format("{}", (index + 1) * step);
            fmt::memory_buffer label;
            append_format(label, "{:.6g}", index * step);
            append_visible(label, display.unit);
            made.label = fmt::to_string(label);
            continue;
        }
        wide_integer begin = each.index * values.buckets().width();
        wide_integer end = begin + values.buckets().width();
        if (what == aggregate_function::quantize) {
            histogram::log2_bucket_bounds(static_cast<int>(each.index), begin, end);
        }
        made.begin = decimal(begin);
        made.end = decimal(end);
        made.label = format_integer(begin, display);
    }
    return all;
}

}  // namespace elog
