// SPDX-License-Identifier: MIT
#include "top/field_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <variant>

#include <fmt/format.h>

#include "aggregate/aggregate_values.hpp"
#include "schema/decode.hpp"
#include "schema/value_text.hpp"

namespace elog {
namespace {

bool is_number_type(eventlog::field_type type) noexcept {
    return eventlog::is_integer(type) || type == eventlog::field_type::float_32 ||
           type == eventlog::field_type::float_64;
}

/// Integers that identify things, such as addresses and hexadecimal numbers, are not measured.
bool is_measurable(const field_schema& field) noexcept {
    const bool plainly =
        field.format == eventlog::format::plain || field.format == eventlog::format::decimal ||
        field.format == eventlog::format::duration || field.format == eventlog::format::realtime ||
        field.format == eventlog::format::monotonic || field.format == eventlog::format::byte_size;
    return is_number_type(field.type) && field.count == 1 &&
           field.enumeration == schema_format::no_index && plainly;
}

std::string type_of(const provider_schema& provider, const field_schema& field) {
    if (field.enumeration < provider.enumerations.size()) {
        return provider.enumerations[field.enumeration].name;
    }
    std::string name(name_of(field.type));
    if (field.count == 0) {
        return name + "[]";
    }
    return field.count == 1 ? name : fmt::format("{}[{}]", name, field.count);
}

}  // namespace

field_statistics::field_statistics(const provider_schema& provider, const field_schema& field)
    : name_(field.name),
      type_(type_of(provider, field)),
      is_measured_(is_measurable(field)),
      display_format_{field.format, field.unit, true, !eventlog::is_integer(field.type),
                      eventlog::size_of(field.type)} {}

void field_statistics::take(const provider_schema& provider, const field_schema& field,
                            std::span<const std::uint8_t> payload) {
    ++count_;
    if (is_measured_) {
        take_number(field, payload);
    } else {
        take_text(provider, field, payload);
    }
}

void field_statistics::take_number(const field_schema& field,
                                   std::span<const std::uint8_t> payload) {
    const auto add = [this](auto number) {
        sums_.add_sum(number);
        extremes_.add_min_max(number);
    };
    const field_value value = decode_field(field, payload);
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
        add(wide_integer{*number});
    } else if (const auto* natural = std::get_if<std::uint64_t>(&value)) {
        add(wide_integer{*natural});
    } else if (const auto* wide = std::get_if<double>(&value); wide && !std::isnan(*wide)) {
        add(*wide);
    } else if (const auto* narrow = std::get_if<float>(&value); narrow && !std::isnan(*narrow)) {
        add(double{*narrow});
    } else {
        ++absent_;
    }
}

void field_statistics::take_text(const provider_schema& provider, const field_schema& field,
                                 std::span<const std::uint8_t> payload) {
    const field_value value = decode_field(field, payload);
    if (std::holds_alternative<absent_value>(value) ||
        std::holds_alternative<damaged_value>(value)) {
        ++absent_;
        return;
    }
    fmt::memory_buffer shown;
    append_field(shown, provider, field, payload);
    std::string text(shown.data(), shown.size());
    const auto found = distinct_values_.find(text);
    if (found != distinct_values_.end()) {
        ++found->second;
    } else if (distinct_values_.size() < distinct_values_max &&
               text.size() <= distinct_bytes_max - distinct_bytes_) {
        distinct_bytes_ += text.size();
        distinct_values_.emplace(std::move(text), 1);
    } else {
        ++beyond_;
    }
}

std::string field_statistics::smallest() const {
    return format_value(aggregate_function::min, extremes_, display_format_);
}

std::string field_statistics::average() const {
    return format_value(aggregate_function::avg, sums_, display_format_);
}

std::string field_statistics::largest() const {
    return format_value(aggregate_function::max, extremes_, display_format_);
}

std::vector<field_statistics::frequency> field_statistics::most_frequent(std::size_t wanted) const {
    std::vector<frequency> all;
    all.reserve(distinct_values_.size());
    for (const auto& [text, count] : distinct_values_) {
        all.push_back({text, count});
    }
    const std::size_t size = std::min(wanted, all.size());
    std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(size), all.end(),
                      [](const frequency& one, const frequency& other) {
                          return one.count != other.count ? one.count > other.count
                                                          : one.text < other.text;
                      });
    all.resize(size);
    return all;
}

}  // namespace elog
