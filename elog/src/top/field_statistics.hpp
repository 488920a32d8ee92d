// SPDX-License-Identifier: MIT
//
// Statistics of one field of an event: smallest, average and largest value of measured fields, the
// most frequent values of other fields. Memory is bounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "aggregate/accumulator.hpp"
#include "aggregate/aggregator.hpp"
#include "schema/provider_schema.hpp"

namespace elog {

class field_statistics {
  public:
    // Limits on the distinct values kept, and on their texts; further values are counted together.
    static constexpr std::size_t distinct_values_max = 2000;
    static constexpr std::size_t distinct_bytes_max = std::size_t{1} << 20U;

    /// `field` must be part of `provider`.
    field_statistics(const provider_schema& provider, const field_schema& field);

    /// Adds a record's field: the one with this name in any schema.
    void take(const provider_schema& provider, const field_schema& field,
              std::span<const std::uint8_t> payload);

    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    /// The type's name in schemas.
    [[nodiscard]] const std::string& type() const noexcept { return type_; }
    /// Whether the field is a number that measures or counts.
    [[nodiscard]] bool is_measured() const noexcept { return is_measured_; }
    /// Number of records.
    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    /// Of these, records without a value or with a damaged one.
    [[nodiscard]] std::uint64_t absent() const noexcept { return absent_; }

    // For measured fields, as readable text; "-" without values.
    [[nodiscard]] std::string smallest() const;
    [[nodiscard]] std::string average() const;
    [[nodiscard]] std::string largest() const;

    struct frequency {
        std::string text;  // safe for a terminal
        std::uint64_t count = 0;
    };
    /// For other fields: at most `wanted` values, the most frequent first, then by text.
    [[nodiscard]] std::vector<frequency> most_frequent(std::size_t wanted) const;
    [[nodiscard]] std::size_t distinct_values() const noexcept { return distinct_values_.size(); }
    /// Number of values that differ from all kept ones.
    [[nodiscard]] std::uint64_t beyond() const noexcept { return beyond_; }

  private:
    void take_number(const field_schema& field, std::span<const std::uint8_t> payload);
    void take_text(const provider_schema& provider, const field_schema& field,
                   std::span<const std::uint8_t> payload);

    std::string name_;
    std::string type_;
    bool is_measured_ = false;
    display_format display_format_;
    std::uint64_t count_ = 0;
    std::uint64_t absent_ = 0;
    accumulator sums_;
    accumulator extremes_;
    std::unordered_map<std::string, std::uint64_t> distinct_values_;
    std::size_t distinct_bytes_ = 0;  // of their texts
    std::uint64_t beyond_ = 0;
};

}  // namespace elog
