// SPDX-License-Identifier: MIT
//
// Folds comparisons of a value with a literal, or with a value that is the same for all records,
// for one event. Everything that the schema decides is decided here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "predicate/compiled_predicate.hpp"
#include "predicate/literal_values.hpp"

namespace elog {

[[nodiscard]] constexpr bool is_pattern(comparison how) noexcept {
    return how == comparison::like || how == comparison::unlike;
}
[[nodiscard]] constexpr bool is_equality(comparison how) noexcept {
    return how == comparison::equal || how == comparison::unequal;
}

/// The bits of a number that are compared.
struct bit_selection {
    std::uint64_t mask = ~std::uint64_t{0};
    bool is_masked = false;
    bool is_negative = false;  // the mask is a negative number, so the selected bits are signed
};

/// All functions throw user_error, with source and column, if the types do not allow a comparison.
/// `negated`: the negation of the condition is wanted.
class comparison_compiler {
  protected:
    comparison_compiler(const predicate_context& context, const provider_instance& provider,
                        const event_schema& event)
        : context_(context), provider_(provider), event_(event) {}

    [[nodiscard]] const predicate_context& context() const noexcept { return context_; }
    [[nodiscard]] const provider_instance& provider() const noexcept { return provider_; }
    [[nodiscard]] const event_schema& event() const noexcept { return event_; }
    /// The texts of the instructions.
    [[nodiscard]] std::string take_texts() noexcept { return std::move(texts_); }
    [[nodiscard]] const predicate_node& node_at(std::size_t index) const {
        return context_.wanted.nodes()[index];
    }
    [[nodiscard]] std::optional<value_location> place_of(const predicate_node& node) const {
        return find_location(node.place, provider_, event_, context_.wanted.source());
    }
    [[noreturn]] void reject(std::size_t column, std::string_view reason) const {
        reject_expression(context_.wanted.source(), column, reason);
    }
    /// "'items' of shop:order_placed"
    [[nodiscard]] std::string called(const value_location& place) const;
    /// "'items' of shop:order_placed is a number"
    [[nodiscard]] std::string described(const value_location& place) const;

    [[nodiscard]] static folded_node constant(bool value);
    [[nodiscard]] static folded_node leaf(const predicate_instruction& test);
    [[nodiscard]] static predicate_instruction test_of(const value_location& place,
                                                       predicate_opcode what, comparison how,
                                                       bool negated);

    /// A comparison of the bits in `mask` with a range.
    [[nodiscard]] folded_node fold_integer(const value_location& place, std::uint64_t mask,
                                           const bit_range& range, bool negated) const;
    /// A comparison with a number, a name, or a set.
    [[nodiscard]] folded_node fold_number(const value_location& place,
                                          const bit_selection& selected, std::size_t right,
                                          comparison how, bool negated);
    /// A comparison with the literal at node `right`.
    [[nodiscard]] folded_node fold_literal(const value_location& place, std::size_t right,
                                           comparison how, bool negated);
    /// A comparison with a value that is the same for all records.
    [[nodiscard]] folded_node fold_with_fixed(const value_location& place,
                                              const value_location& fixed, comparison how,
                                              bool negated);

    [[nodiscard]] bit_selection mask_of(const value_location& place, const predicate_node& masked);
    /// The number of a name in the field's enumeration or in errno.
    [[nodiscard]] std::optional<std::uint64_t> named_value(const value_location& place,
                                                           std::size_t index);

  private:
    [[nodiscard]] bool depends_on_process(const value_location& place) const noexcept;
    void store_text(predicate_instruction& test, std::string_view text);
    /// The value cannot be equal to the literal; the result is still unknown without a value.
    [[nodiscard]] folded_node fold_foreign(const value_location& place, comparison how,
                                           bool negated) const;
    [[nodiscard]] folded_node fold_floating(const value_location& place, double number,
                                            comparison how, bool negated) const;
    [[nodiscard]] folded_node fold_text(const value_location& place, std::string_view wanted,
                                        comparison how, bool negated);
    [[nodiscard]] folded_node fold_address(const value_location& place,
                                           const predicate_node& literal, comparison how,
                                           bool negated);
    /// The bits of a number, a name, or a set of both.
    [[nodiscard]] std::uint64_t bits_of(const value_location& place, std::size_t index);
    [[nodiscard]] bool has_negative(std::size_t index) const;
    /// The number of a literal that an integer or char can be compared with. `is_signed`: of the
    /// bits that are compared.
    [[nodiscard]] ratio literal_number(const value_location& place, std::size_t right,
                                       comparison how, bool is_signed);
    [[noreturn]] void refuse_name(const value_location& place, const predicate_node& node) const;
    [[noreturn]] void refuse_value(const value_location& place, std::string_view name,
                                   std::size_t column) const;
    [[noreturn]] void refuse_types(const value_location& place, const predicate_node& literal,
                                   comparison how) const;

    const predicate_context& context_;
    const provider_instance& provider_;
    const event_schema& event_;
    std::string texts_;
};

}  // namespace elog
