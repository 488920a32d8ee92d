// SPDX-License-Identifier: MIT
#include "predicate/expression_parser.hpp"

#include <algorithm>

namespace elog {

bool expression_parser::is_symbol(std::string_view symbol) const noexcept {
    return current_.kind == expression_token_kind::symbol && current_.text == symbol;
}

bool expression_parser::is_word(std::string_view word) const noexcept {
    return current_.kind == expression_token_kind::word && current_.text == word;
}

std::optional<std::uint64_t> expression_parser::whole_number(std::uint64_t most) const noexcept {
    const number_literal& number = current_.number;
    const bool is_whole = current_.kind == expression_token_kind::number && number.exact &&
                          number.decimals == 0 && number.unit.factor == 1 &&
                          number.mantissa <= most;
    return is_whole ? std::optional(number.mantissa) : std::nullopt;
}

void expression_parser::reject_missing(std::string_view what) const {
    reject(current_.column, fmt::format("{} is missing in front of {}.", what, describe(current_)));
}

void expression_parser::skip_symbol(std::string_view symbol) {
    if (!is_symbol(symbol)) {
        reject_missing(fmt::format("A {}", symbol));
    }
    advance();
}

void expression_parser::require_end(std::string_view advice) const {
    if (current_.kind != expression_token_kind::end) {
        reject(current_.column,
               fmt::format("{} does not belong here: {}", describe(current_), advice));
    }
}

field_reference expression_parser::parse_field_reference() {
    field_reference made;
    made.column = current_.column;
    made.field_only = current_.text.front() == '.';
    made.name = current_.text.substr(made.field_only ? 1 : 0);
    std::replace(made.name.begin(), made.name.end(), '.', '_');
    advance();
    if (is_symbol("[")) {
        advance();
        const std::optional<std::uint64_t> index = whole_number(UINT16_MAX);
        if (!index) {
            reject(current_.column, "Brackets contain the number of an element, from 0.");
        }
        made.has_index = true;
        made.index = static_cast<std::uint16_t>(*index);
        advance();
        skip_symbol("]");
    }
    return made;
}

}  // namespace elog
