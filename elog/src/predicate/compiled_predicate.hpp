// SPDX-License-Identifier: MIT
//
// A predicate compiled for one event of one provider: checked against the schema, folded as far as
// all records of the event agree, the rest a flat program that reads the bytes of a record.
//
// - A missing value (an unknown field, an optional field without a value, a null text) is unknown:
//   a comparison with it is neither true nor false, and neither is its negation. A record matches
//   if the whole predicate is true.
// - Evaluation neither allocates nor trusts the payload.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "predicate/predicate.hpp"
#include "predicate/value_location.hpp"
#include "record/clock_converter.hpp"
#include "record/records.hpp"
#include "schema/provider_schema.hpp"

namespace elog {

enum class predicate_opcode : std::uint8_t {
    integer,  // ((bits & mask) - low) <= span
    integer_pair,
    floating,
    floating_pair,
    text,
    glob,
    address,    // its first bits are those of the literal
    span_pair,  // of texts or addresses
    presence,
};

struct predicate_instruction {
    // In place of an instruction number.
    static constexpr std::uint16_t reject = 0xfffe;
    static constexpr std::uint16_t accept = 0xffff;

    predicate_opcode what{};
    comparison how{};
    bool negated = false;
    std::uint16_t on_true = 0;  // the next instruction, or accept or reject
    std::uint16_t on_false = 0;
    stored_location left{};
    stored_location right{};
    std::uint64_t mask = ~std::uint64_t{0};
    std::uint64_t low = 0;
    std::uint64_t span = ~std::uint64_t{0};
    std::uint64_t left_factor = 1;  // of a pair: brings the numbers to a common unit
    std::uint64_t right_factor = 1;
    double number = 0;
    std::uint32_t text_begin = 0;  // in the program's texts
    std::uint32_t text_size = 0;
    std::uint32_t bits = 0;  // of an address
};

/// False for like and unlike.
[[nodiscard]] bool satisfies(std::partial_ordering order, comparison how) noexcept;

/// Inputs that are the same for all events.
struct predicate_context {
    const predicate& wanted;
    std::int64_t reference_time = 0;  // for times without a day
    std::vector<bool>& known;         // by node: an event has the name; never reset to false
    bool process_unknown = false;     // for fold() alone: the process of the provider is not known
};

/// The part of a predicate that is left for one event: comparisons and how they are joined.
/// Negations are part of the comparisons.
struct folded_node {
    enum class form {
        never,
        always,
        process_dependent,  // true for one process and false for another
        leaf,
        all_of,
        any_of,
    };
    form is = form::never;
    std::size_t size = 0;  // instructions
    predicate_instruction leaf{};
    std::vector<folded_node> children{};
    std::size_t column = 0;  // in the predicate, of a leaf or an undecided condition
};

struct folded_predicate {
    folded_node whole{};
    std::string texts{};  // of the instructions
};

/// Throws user_error with source and column if the event's types do not allow a comparison.
[[nodiscard]] folded_predicate fold(const predicate_context& context,
                                    const provider_instance& provider, const event_schema& event);

class compiled_predicate {
  public:
    /// Matches nothing.
    compiled_predicate() = default;

    /// Throws user_error with source and column if the event's types do not allow a comparison.
    compiled_predicate(const predicate_context& context, const provider_instance& provider,
                       const event_schema& event);

    [[nodiscard]] bool always_matches() const noexcept { return always_; }
    [[nodiscard]] bool never_matches() const noexcept { return !always_ && program_.empty(); }

    /// The record must be one of that event. Neither allocates nor trusts the payload.
    [[nodiscard]] bool matches(const record_view& record,
                               const clock_converter& clock) const noexcept;

  private:
    void emit_code(const folded_node& part, std::size_t at, std::uint16_t on_true,
                   std::uint16_t on_false);
    [[nodiscard]] bool evaluate(const predicate_instruction& test, const record_view& record,
                                const clock_converter& clock) const noexcept;

    bool always_ = false;
    std::vector<predicate_instruction> program_;
    std::string texts_;
};

}  // namespace elog
