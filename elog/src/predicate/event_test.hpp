// SPDX-License-Identifier: MIT
//
// What a predicate means for one event of one provider: checked against the schema, everything that
// is the same for all its records known in advance, the rest a flat program that looks at the bytes
// of a record.
//
// What an event or a record does not have (a field of that name, the value of an optional field,
// the text behind a null pointer) is unknown: a comparison with it is neither true nor false, and
// neither is its negation. A record matches if the whole is true.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "predicate/predicate.hpp"
#include "predicate/record_place.hpp"
#include "record/clock_table.hpp"
#include "record/records.hpp"
#include "schema/provider_schema.hpp"

namespace elog {

enum class test_operation : std::uint8_t {
    integer,  // ((bits & mask) - low) <= span
    integer_pair,
    floating,
    floating_pair,
    text,
    text_pair,
    glob,
    address,  // its first bits are those of the literal
    address_pair,
    presence,
};

struct test_instruction {
    // In place of the number of an instruction.
    static constexpr std::uint16_t reject = 0xfffe;
    static constexpr std::uint16_t accept = 0xffff;

    test_operation what{};
    comparison how{};
    bool negated = false;
    std::uint16_t on_true = 0;  // the next instruction, or accept or reject
    std::uint16_t on_false = 0;
    stored_place left{};
    stored_place right{};
    std::uint64_t mask = ~std::uint64_t{0};
    std::uint64_t low = 0;
    std::uint64_t span = ~std::uint64_t{0};
    double number = 0;
    std::uint32_t text_begin = 0;  // in the program's texts
    std::uint32_t text_size = 0;
    std::uint32_t bits = 0;  // of an address
};

/// What stays the same from event to event.
struct test_context {
    const predicate& wanted;
    std::int64_t reference_time = 0;  // for times without a day
    std::vector<bool>& known;         // by node: some event knows the name; true is never unset
    bool of_any_process = false;      // the process of the provider is not meant: for fold() alone
};

/// What is left of a predicate for one event: comparisons, and how they are joined. Negations have
/// become part of the comparisons.
struct folded_test {
    enum class form {
        never,
        always,
        open,  // of one process it is true, and of another one not
        leaf,
        all_of,
        any_of,
    };
    form is = form::never;
    std::size_t size = 0;  // instructions
    test_instruction leaf{};
    std::vector<folded_test> children{};
    std::size_t column = 0;  // in the predicate, of what is a leaf or open
};

struct folded_predicate {
    folded_test whole{};
    std::string texts{};  // of the instructions
};

/// Throws failure, with source and column, if the event's types do not allow the comparison.
[[nodiscard]] folded_predicate fold(const test_context& context, const provider_instance& provider,
                                    const event_schema& event);

class event_test {
  public:
    /// Wants nothing.
    event_test() = default;

    /// Throws failure, with source and column, if the event's types do not allow the comparison.
    event_test(const test_context& context, const provider_instance& provider,
               const event_schema& event);

    [[nodiscard]] bool is_always() const noexcept { return always_; }
    [[nodiscard]] bool is_never() const noexcept { return !always_ && program_.empty(); }

    /// The record must be one of that event. Neither allocates nor believes the payload.
    [[nodiscard]] bool matches(const record_view& record, const clock_table& clock) const noexcept;

  private:
    void emit(const folded_test& part, std::size_t at, std::uint16_t on_true,
              std::uint16_t on_false);
    [[nodiscard]] bool holds(const test_instruction& test, const record_view& record,
                             const clock_table& clock) const noexcept;

    bool always_ = false;
    std::vector<test_instruction> program_;
    std::string texts_;
};

}  // namespace elog
