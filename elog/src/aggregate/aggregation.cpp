// SPDX-License-Identifier: MIT
#include "aggregate/aggregation.hpp"

#include <array>
#include <utility>

#include "text/did_you_mean.hpp"

namespace elog {
namespace {

constexpr std::array<std::pair<std::string_view, aggregate_function>, 8> aggregate_functions{{
    {"count", aggregate_function::count},
    {"sum", aggregate_function::sum},
    {"avg", aggregate_function::avg},
    {"min", aggregate_function::min},
    {"max", aggregate_function::max},
    {"stddev", aggregate_function::stddev},
    {"hist", aggregate_function::hist},
    {"quantize", aggregate_function::quantize},
}};

std::string text_of_reference(const field_reference& name) {
    return fmt::format("{}{}{}", name.field_only ? "." : "", name.name,
                       name.has_index ? fmt::format("[{}]", name.index) : "");
}

class aggregation_parser {
  public:
    aggregation_parser(aggregation& made, std::string_view text, std::size_t column)
        : made_(made), tokens_(made.source, text, column), current_(tokens_.next()) {}

    void parse() {
        if (is_word("top")) {
            parse_top_call();
        } else {
            parse_calls();
            if (is_word("by")) {
                advance();
                parse_keys();
            }
        }
        if (is_symbol("|")) {
            advance();
            parse_top();
        }
        if (current_.kind != expression_token_kind::end) {
            tokens_.reject(current_.column,
                           fmt::format("{} does not belong here: calls have commas between them; "
                                       "then comes 'by' with fields, then '| top' with a number.",
                                       describe(current_)));
        }
    }

    void parse_only_keys() {
        parse_keys();
        if (current_.kind != expression_token_kind::end) {
            tokens_.reject(current_.column,
                           fmt::format("{} does not belong here: fields have commas between them.",
                                       describe(current_)));
        }
    }

  private:
    [[nodiscard]] bool is_symbol(std::string_view symbol) const noexcept {
        return current_.kind == expression_token_kind::symbol && current_.text == symbol;
    }
    [[nodiscard]] bool is_word(std::string_view word) const noexcept {
        return current_.kind == expression_token_kind::word && current_.text == word;
    }
    void advance() { current_ = tokens_.next(); }

    void take(std::string_view symbol) {
        if (!is_symbol(symbol)) {
            tokens_.reject(current_.column, fmt::format("A {} is missing in front of {}.", symbol,
                                                        describe(current_)));
        }
        advance();
    }

    field_reference parse_reference() {
        if (current_.kind != expression_token_kind::word) {
            tokens_.reject(current_.column,
                           fmt::format("A field is missing in front of {}.", describe(current_)));
        }
        return parse_field_reference(tokens_, current_);
    }

    void parse_calls() {
        parse_call();
        while (is_symbol(",")) {
            advance();
            parse_call();
        }
    }

    aggregate_function parse_function() {
        std::vector<std::string_view> names{"top"};
        for (const auto& [name, what] : aggregate_functions) {
            if (is_word(name)) {
                advance();
                return what;
            }
            names.push_back(name);
        }
        tokens_.reject(current_.column,
                       fmt::format("{} is no function: there are count, sum, avg, min, max, "
                                   "stddev, hist, quantize and top.{}",
                                   describe(current_), did_you_mean(current_.text, names)));
    }

    void parse_call() {
        aggregate_call call;
        call.column = current_.column;
        const std::string name = current_.text;
        call.what = parse_function();
        take("(");
        if (call.what != aggregate_function::count || !is_symbol(")")) {
            call.of = parse_reference();
        }
        std::string step;
        if (call.what == aggregate_function::hist && is_symbol(",")) {
            advance();
            step = ", " + current_.text;
            parse_step(call);
        }
        take(")");
        call.text = fmt::format("{}({}{})", name, call.of ? text_of_reference(*call.of) : "", step);
        if (made_.calls.size() == aggregate_calls_max) {
            tokens_.reject(call.column, fmt::format("Up to {} calls are computed at once.",
                                                    aggregate_calls_max));
        }
        made_.calls.push_back(std::move(call));
    }

    void parse_step(aggregate_call& call) {
        if (current_.kind != expression_token_kind::number || !(current_.number.floating > 0)) {
            tokens_.reject(current_.column, "Behind the comma stands how wide a bucket is, above "
                                            "0: hist(took, 10ms).");
        }
        call.step = current_;
        advance();
    }

    void parse_keys() {
        do {
            if (!made_.keys.empty()) {
                advance();
            }
            if (made_.keys.size() == aggregate_keys_max) {
                tokens_.reject(current_.column, fmt::format("Up to {} fields can stand behind by.",
                                                            aggregate_keys_max));
            }
            aggregate_key key;
            key.of = parse_reference();
            key.text = text_of_reference(key.of);
            made_.keys.push_back(std::move(key));
        } while (is_symbol(","));
    }

    void parse_top_call() {
        advance();
        take("(");
        made_.top = parse_rows();
        take(",");
        made_.calls.push_back({aggregate_function::count, {}, {}, "count()", 1});
        parse_keys();
        take(")");
    }

    void parse_top() {
        if (!is_word("top") || made_.top != 0) {
            tokens_.reject(current_.column, "Behind | stands top with a number, once: | top 10");
        }
        advance();
        made_.top = parse_rows();
    }

    std::size_t parse_rows() {
        const number_literal& number = current_.number;
        if (current_.kind != expression_token_kind::number || !number.exact ||
            number.decimals != 0 || number.unit.factor != 1 || number.mantissa == 0 ||
            number.mantissa > aggregate_rows_max) {
            tokens_.reject(
                current_.column,
                fmt::format("How many rows to show stands here: 1 to {}.", aggregate_rows_max));
        }
        const std::size_t rows = number.mantissa;
        advance();
        return rows;
    }

    aggregation& made_;
    expression_lexer tokens_;
    expression_token current_;
};

}  // namespace

aggregation aggregation::parse(std::string source, std::string_view text, std::size_t column) {
    aggregation made;
    made.source = std::move(source);
    aggregation_parser(made, text, column).parse();
    return made;
}

void aggregation::check_keys(std::string source, std::string_view text, std::size_t column) {
    aggregation made;
    made.source = std::move(source);
    aggregation_parser(made, text, column).parse_only_keys();
}

}  // namespace elog
