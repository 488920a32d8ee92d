// SPDX-License-Identifier: MIT
//
// An aggregation as a syntax tree: "sum(bytes), avg(bytes) by peer | top 10". elog-agg(1) is the
// specification; aggregator.hpp computes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "predicate/expression_lexer.hpp"
#include "predicate/predicate.hpp"

namespace elog {

enum class aggregate_function {
    count,
    sum,
    avg,
    min,
    max,
    stddev,
    hist,      // linear
    quantize,  // by powers of two
};

struct aggregate_call {
    aggregate_function what{};
    std::optional<field_reference> of{};     // empty for count()
    std::optional<expression_token> step{};  // for hist: the bucket width
    std::string text{};                      // as shown: sum(bytes)
    std::size_t column = 1;
};

struct aggregate_key {
    field_reference of{};
    std::string text{};
};

[[nodiscard]] constexpr bool is_distribution(aggregate_function what) noexcept {
    return what >= aggregate_function::hist;
}

inline constexpr std::size_t aggregate_calls_max = 16;
inline constexpr std::size_t aggregate_keys_max = 8;
inline constexpr std::uint64_t aggregate_rows_max = 1'000'000;

struct aggregation {
    std::string source;  // its name in messages
    std::vector<aggregate_call> calls;
    std::vector<aggregate_key> keys;
    std::size_t top = 0;  // 0: all

    /// `column` is the text's position in the source. Throws user_error: SOURCE, column N: reason.
    [[nodiscard]] static aggregation parse(std::string source, std::string_view text,
                                           std::size_t column = 1);
    /// A list of fields as after 'by'. Throws the same error.
    [[nodiscard]] static std::vector<aggregate_key> parse_keys(std::string source,
                                                               std::string_view text,
                                                               std::size_t column);
    /// "sum(bytes), avg(bytes) by peer | top 10": equal texts compute the same.
    [[nodiscard]] std::string text() const;
};

}  // namespace elog
