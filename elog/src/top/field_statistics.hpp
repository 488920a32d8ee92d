// SPDX-License-Identifier: MIT
//
// What the values of one field of an event look like: the smallest, the average and the largest of
// what is measured, and of everything else the most frequent.
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
    // Of different values; more are counted together.
    static constexpr std::size_t distinct_values_max = 2000;
    // Bytes of a value as it is shown; what differs further on counts as the same.
    static constexpr std::size_t text_max = 200;

    /// `field` is one of that provider's.
    field_statistics(const provider_schema& provider, const field_schema& field);

    /// A record's field: that of the same name, of this schema or of another one.
    void take(const provider_schema& provider, const field_schema& field,
              std::span<const std::uint8_t> payload);

    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    /// As schemas name it.
    [[nodiscard]] const std::string& type() const noexcept { return type_; }
    /// Whether it is a number that measures or counts something.
    [[nodiscard]] bool is_measured() const noexcept { return is_measured_; }
    /// Records of which it was taken.
    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    /// Of these, without a value, or with one that does not fit the schema.
    [[nodiscard]] std::uint64_t absent() const noexcept { return absent_; }

    // Of what is measured, as people read it; "-" without values.
    [[nodiscard]] std::string smallest() const;
    [[nodiscard]] std::string average() const;
    [[nodiscard]] std::string largest() const;

    struct frequency {
        std::string text;  // can be shown on a terminal
        std::uint64_t count = 0;
    };
    /// Of everything else: no more than `wanted`, the most frequent first, then by text.
    [[nodiscard]] std::vector<frequency> most_frequent(std::size_t wanted) const;
    [[nodiscard]] std::size_t distinct_values() const noexcept { return distinct_values_.size(); }
    /// Values that were different from all those that are kept.
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
    std::uint64_t beyond_ = 0;
};

}  // namespace elog
