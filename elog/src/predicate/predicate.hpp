// SPDX-License-Identifier: MIT
//
// A predicate as a syntax tree. elog-predicate(7) is the specification; compiled_predicate.hpp
// applies it to the events of a schema.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "predicate/expression_lexer.hpp"

namespace elog {

/// Largest nesting of parentheses and negations.
inline constexpr std::size_t predicate_depth_max = 64;

enum class comparison { equal, unequal, less, less_equal, greater, greater_equal, like, unlike };

/// The comparison with its sides exchanged.
[[nodiscard]] comparison mirrored(comparison how) noexcept;

/// A field or built-in as written.
struct field_reference {
    std::string name;         // points are underscores, as in flattened names
    bool field_only = false;  // written with a leading point: not a built-in
    bool has_index = false;   // of an array's element
    std::uint16_t index = 0;
    std::size_t column = 1;
};

enum class predicate_kind {
    // conditions
    disjunction,  // of the children
    conjunction,  // of the children
    negation,     // of the child
    relation,     // of the two children, which are values
    truth,        // of the child, a value: a bool, or whether masked bits are set
    presence,     // of the child, a name
    // values
    name,  // a field, a built-in, or the name of a number
    number,
    text,
    character,
    address,
    set,     // numbers and names with | between them: the children
    masked,  // the first child, a name, & the second
};

struct predicate_node {
    predicate_kind kind{};
    comparison how{};
    bool negative = false;  // a name with a leading -
    std::size_t column = 1;
    field_reference place{};   // of a name
    expression_token value{};  // of a literal
    std::vector<std::size_t> children{};
};

class predicate {
  public:
    /// `source` names the predicate in messages, for example --where, and `column` is the text's
    /// position there. Throws user_error: SOURCE, column N: reason.
    predicate(std::string source, std::string_view text, std::size_t column = 1);

    [[nodiscard]] const std::string& source() const noexcept { return source_; }
    [[nodiscard]] const std::vector<predicate_node>& nodes() const noexcept { return nodes_; }
    [[nodiscard]] std::size_t root() const noexcept { return root_; }

  private:
    std::string source_;
    std::vector<predicate_node> nodes_;
    std::size_t root_ = 0;
};

[[nodiscard]] constexpr bool is_condition(predicate_kind kind) noexcept {
    return kind <= predicate_kind::presence;
}

}  // namespace elog
