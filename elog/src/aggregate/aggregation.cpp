// SPDX-License-Identifier: MIT
#include "aggregate/aggregation.hpp"

#include <array>
#include <utility>

#include "predicate/expression_parser.hpp"
#include "text/did_you_mean.hpp"

namespace elog {
namespace {

constexpr std::array<std::pair<std::string_view, aggregate_function>, 9> aggregate_functions{{
    {"count", aggregate_function::count},
    {"sum", aggregate_function::sum},
    {"avg", aggregate_function::avg},
    {"min", aggregate_function::min},
    {"max", aggregate_function::max},
    {"stddev", aggregate_function::stddev},
    {"hist", aggregate_function::hist},
    {"lquantize", aggregate_function::hist},
    {"quantize", aggregate_function::quantize},
}};

std::string text_of_reference(const field_reference& name) {
    return fmt::format("{}{}{}", name.field_only ? "." : "", name.name,
                       name.has_index ? fmt::format("[{}]", name.index) : "");
}

class aggregation_parser : private expression_parser {
  public:
    aggregation_parser(aggregation& made, std::string_view text, std::size_t column)
        : expression_parser(made.source, text, column), made_(made) {}

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
        require_end(
            "calls are separated by commas, followed by 'by' with fields and '| top' with a "
            "number.");
    }

    void parse_only_keys() {
        parse_keys();
        require_end("fields have commas between them.");
    }

  private:
    field_reference parse_reference() {
        if (current().kind != expression_token_kind::word) {
            reject_missing("A field");
        }
        return parse_field_reference();
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
        reject(current().column,
               fmt::format("{} is no function: there are count, sum, avg, min, max, "
                           "stddev, hist, lquantize, quantize and top.{}",
                           describe(current()), did_you_mean(current().text, names)));
    }

    void parse_call() {
        aggregate_call call;
        call.column = current().column;
        const std::string name = current().text;
        call.what = parse_function();
        skip_symbol("(");
        if (call.what != aggregate_function::count || !is_symbol(")")) {
            call.of = parse_reference();
        }
        std::string step;
        if (call.what == aggregate_function::hist && is_symbol(",")) {
            advance();
            step = ", " + current().text;
            parse_step(call);
        }
        skip_symbol(")");
        call.text = fmt::format("{}({}{})", name, call.of ? text_of_reference(*call.of) : "", step);
        if (made_.calls.size() == aggregate_calls_max) {
            reject(call.column,
                   fmt::format("Up to {} calls are computed at once.", aggregate_calls_max));
        }
        reject_repeated(made_.calls, call.text, call.column);
        made_.calls.push_back(std::move(call));
    }

    /// Results and keys are members of objects in JSON, and columns.
    template <class Parts>
    void reject_repeated(const Parts& parts, const std::string& text, std::size_t column) {
        for (const auto& part : parts) {
            if (part.text == text) {
                reject(column, fmt::format("'{}' is there twice: remove one of them.", text));
            }
        }
    }

    void parse_step(aggregate_call& call) {
        if (current().kind != expression_token_kind::number || !(current().number.floating > 0)) {
            reject(current().column, "The width of a bucket must follow the comma, above "
                                     "0: hist(took, 10ms).");
        }
        call.step = current();
        advance();
    }

    void parse_keys() {
        do {
            if (!made_.keys.empty()) {
                advance();
            }
            if (made_.keys.size() == aggregate_keys_max) {
                reject(current().column,
                       fmt::format("Up to {} fields can follow by.", aggregate_keys_max));
            }
            aggregate_key key;
            key.of = parse_reference();
            key.text = text_of_reference(key.of);
            reject_repeated(made_.keys, key.text, key.of.column);
            made_.keys.push_back(std::move(key));
        } while (is_symbol(","));
    }

    void parse_top_call() {
        advance();
        skip_symbol("(");
        made_.top = parse_rows();
        skip_symbol(",");
        made_.calls.push_back({aggregate_function::count, {}, {}, "count()", 1});
        parse_keys();
        skip_symbol(")");
    }

    void parse_top() {
        if (!is_word("top") || made_.top != 0) {
            reject(current().column, "Only top with a number can follow |, once: | top 10");
        }
        advance();
        made_.top = parse_rows();
    }

    std::size_t parse_rows() {
        const std::uint64_t rows = whole_number(aggregate_rows_max).value_or(0);
        if (rows == 0) {
            reject(current().column,
                   fmt::format("The number of rows to show is needed here: 1 to {}.",
                               aggregate_rows_max));
        }
        advance();
        return rows;
    }

    aggregation& made_;
};

}  // namespace

aggregation aggregation::parse(std::string source, std::string_view text, std::size_t column) {
    aggregation made;
    made.source = std::move(source);
    aggregation_parser(made, text, column).parse();
    return made;
}

std::vector<aggregate_key> aggregation::parse_keys(std::string source, std::string_view text,
                                                   std::size_t column) {
    aggregation made;
    made.source = std::move(source);
    aggregation_parser(made, text, column).parse_only_keys();
    return std::move(made.keys);
}

std::string aggregation::text() const {
    std::string all;
    for (const aggregate_call& call : calls) {
        all += all.empty() ? "" : ", ";
        all += call.text;
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
        all += i == 0 ? " by " : ", ";
        all += keys[i].text;
    }
    return top == 0 ? all : fmt::format("{} | top {}", all, top);
}

}  // namespace elog
