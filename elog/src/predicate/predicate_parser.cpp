// SPDX-License-Identifier: MIT
//
// Parses a predicate by recursive descent, one function for each level of precedence, as in C.
#include <array>
#include <optional>
#include <utility>

#include "predicate/expression_parser.hpp"
#include "predicate/predicate.hpp"

namespace elog {
namespace {

constexpr std::array<std::pair<std::string_view, comparison>, 8> comparisons{{
    {"==", comparison::equal},
    {"!=", comparison::unequal},
    {"<", comparison::less},
    {"<=", comparison::less_equal},
    {">", comparison::greater},
    {">=", comparison::greater_equal},
    {"~", comparison::like},
    {"!~", comparison::unlike},
}};

class predicate_parser : private expression_parser {
  public:
    predicate_parser(std::string_view source, std::string_view text, std::size_t column,
                     std::vector<predicate_node>& nodes)
        : expression_parser(source, text, column), nodes_(nodes) {}

    std::size_t parse_all() {
        if (current().kind == expression_token_kind::end) {
            reject(current().column, "There is no condition here: write for example bytes > 1000.");
        }
        const std::size_t root = parse_disjunction();
        require_end("join two conditions with && or ||.");
        return as_condition(root);
    }

  private:
    std::size_t add(predicate_kind kind, std::size_t column, std::vector<std::size_t> children) {
        predicate_node node;
        node.kind = kind;
        node.column = column;
        node.children = std::move(children);
        nodes_.push_back(std::move(node));
        return nodes_.size() - 1;
    }

    [[nodiscard]] bool is_value(std::size_t node) const noexcept {
        return !is_condition(nodes_[node].kind);
    }

    /// Names and masked bits can be true or false; other values are rejected.
    std::size_t as_condition(std::size_t node) {
        const predicate_kind kind = nodes_[node].kind;
        if (is_condition(kind)) {
            return node;
        }
        const std::size_t column = nodes_[node].column;
        if (kind != predicate_kind::name && kind != predicate_kind::masked) {
            reject(column, "A value alone is no condition: compare it with something.");
        }
        return add(predicate_kind::truth, column, {node});
    }

    /// One or more operands of the next level, separated by `symbol`.
    template <class Parse>
    std::size_t parse_list(std::string_view symbol, predicate_kind kind, const Parse& parse) {
        const std::size_t first = parse();
        if (!is_symbol(symbol)) {
            return first;
        }
        const std::size_t column = current().column;
        std::vector<std::size_t> children{as_condition(first)};
        while (is_symbol(symbol)) {
            advance();
            children.push_back(as_condition(parse()));
        }
        return add(kind, column, std::move(children));
    }

    std::size_t parse_disjunction() {
        return parse_list("||", predicate_kind::disjunction, [this] {
            return parse_list("&&", predicate_kind::conjunction, [this] { return parse_set(); });
        });
    }

    [[nodiscard]] bool can_be_in_set(std::size_t node) const noexcept {
        const predicate_kind kind = nodes_[node].kind;
        return kind == predicate_kind::name || kind == predicate_kind::number;
    }

    std::size_t parse_set() {
        const std::size_t first = parse_masked();
        if (!is_symbol("|")) {
            return first;
        }
        const std::size_t column = current().column;
        std::vector<std::size_t> children{first};
        while (is_symbol("|")) {
            advance();
            children.push_back(parse_masked());
        }
        for (const std::size_t child : children) {
            if (!can_be_in_set(child)) {
                reject(column, "Conditions are joined with ||. A set of bits needs "
                               "parentheses: flags & (one | other).");
            }
        }
        return add(predicate_kind::set, nodes_[first].column, std::move(children));
    }

    std::size_t parse_masked() {
        const std::size_t left = parse_equality();
        if (!is_symbol("&")) {
            return left;
        }
        const std::size_t column = current().column;
        advance();
        const std::size_t right = parse_equality();
        if (is_condition(nodes_[left].kind) || is_condition(nodes_[right].kind)) {
            reject(column, "& binds less tightly than a comparison, as in C: write (flags & bits) "
                           "== bits. Conditions are joined with &&.");
        }
        const predicate_kind mask = nodes_[right].kind;
        if (nodes_[left].kind != predicate_kind::name ||
            (mask != predicate_kind::set && !can_be_in_set(right))) {
            reject(column, "& selects bits of a field: its left side is the field, its "
                           "right side a number, a name or a set.");
        }
        if (is_symbol("&")) {
            reject(current().column, "One & is enough: write flags & (one | other).");
        }
        return add(predicate_kind::masked, nodes_[left].column, {left, right});
    }

    [[nodiscard]] std::optional<comparison> comparison_here(bool equality) const noexcept {
        for (const auto& [symbol, how] : comparisons) {
            const bool orders = how >= comparison::less && how <= comparison::greater_equal;
            if (is_symbol(symbol) && orders != equality) {
                return how;
            }
        }
        return std::nullopt;
    }

    template <class Parse>
    std::size_t parse_relation(bool equality, const Parse& parse) {
        const std::size_t left = parse();
        const std::optional<comparison> how = comparison_here(equality);
        if (!how) {
            return left;
        }
        const std::size_t column = current().column;
        advance();
        const std::size_t right = parse();
        if (!is_value(left) || !is_value(right) || comparison_here(equality)) {
            reject(comparison_here(equality) ? current().column : column,
                   "The result of a comparison cannot be compared: join two comparisons with &&.");
        }
        check_sides(left, right, column);
        const std::size_t made = add(predicate_kind::relation, column, {left, right});
        nodes_[made].how = *how;
        return made;
    }

    void check_sides(std::size_t left, std::size_t right, std::size_t column) const {
        const auto is_named = [this](std::size_t node) {
            return nodes_[node].kind == predicate_kind::name ||
                   nodes_[node].kind == predicate_kind::masked;
        };
        if (!is_named(left) && !is_named(right)) {
            reject(column, "One side of a comparison must be a field.");
        }
    }

    std::size_t parse_equality() {
        return parse_relation(
            true, [this] { return parse_relation(false, [this] { return parse_unary(); }); });
    }

    void enter_nesting() {
        if (++depth_ > predicate_depth_max) {
            reject(current().column, fmt::format("More than {} parentheses and negations stand in "
                                                 "one another. Write it flatter.",
                                                 predicate_depth_max));
        }
    }

    std::size_t parse_unary() {
        if (is_symbol("!")) {
            const std::size_t column = current().column;
            enter_nesting();
            advance();
            const std::size_t inner = as_condition(parse_unary());
            --depth_;
            return add(predicate_kind::negation, column, {inner});
        }
        if (is_symbol("(")) {
            enter_nesting();
            advance();
            const std::size_t inner = parse_disjunction();
            skip_symbol(")");
            --depth_;
            return inner;
        }
        return parse_operand();
    }

    std::size_t parse_name() {
        const std::size_t column = current().column;
        const std::size_t node = add(predicate_kind::name, column, {});
        nodes_[node].place = parse_field_reference();
        return node;
    }

    std::size_t parse_negative() {
        const std::size_t column = current().column;
        advance();
        if (current().kind == expression_token_kind::word) {
            const std::size_t node = parse_name();
            nodes_[node].negative = true;
            nodes_[node].column = column;
            return node;
        }
        if (current().kind != expression_token_kind::number) {
            reject(column, "A number must follow -.");
        }
        const std::size_t node = parse_literal(predicate_kind::number);
        nodes_[node].column = column;
        nodes_[node].value.text = fmt::format("-{}", nodes_[node].value.text);
        nodes_[node].value.number.negative = true;
        nodes_[node].value.number.floating *= -1;
        return node;
    }

    std::size_t parse_literal(predicate_kind kind) {
        const std::size_t node = add(kind, current().column, {});
        nodes_[node].value = current();
        advance();
        return node;
    }

    std::size_t parse_presence(std::size_t column) {
        advance();
        if (current().kind != expression_token_kind::word) {
            reject(current().column, "has() needs a field: write has(name).");
        }
        const std::size_t name = parse_name();
        skip_symbol(")");
        return add(predicate_kind::presence, column, {name});
    }

    std::size_t parse_operand() {
        switch (current().kind) {
            case expression_token_kind::word: {
                const std::size_t column = current().column;
                const bool may_be_presence = current().text == "has";
                const std::size_t name = parse_name();
                if (may_be_presence && is_symbol("(")) {
                    nodes_.pop_back();  // it is has(), not a name
                    return parse_presence(column);
                }
                return name;
            }
            case expression_token_kind::number:
                return parse_literal(predicate_kind::number);
            case expression_token_kind::text:
                return parse_literal(predicate_kind::text);
            case expression_token_kind::character:
                return parse_literal(predicate_kind::character);
            case expression_token_kind::address:
                return parse_literal(predicate_kind::address);
            case expression_token_kind::symbol:
                if (current().text == "-") {
                    return parse_negative();
                }
                break;
            case expression_token_kind::end:
                break;
        }
        reject_missing("A field or a value");
    }

    std::vector<predicate_node>& nodes_;
    std::size_t depth_ = 0;
};

}  // namespace

comparison mirrored(comparison how) noexcept {
    switch (how) {
        case comparison::less:
            return comparison::greater;
        case comparison::less_equal:
            return comparison::greater_equal;
        case comparison::greater:
            return comparison::less;
        case comparison::greater_equal:
            return comparison::less_equal;
        default:
            return how;
    }
}

predicate::predicate(std::string source, std::string_view text, std::size_t column)
    : source_(std::move(source)) {
    root_ = predicate_parser(source_, text, column, nodes_).parse_all();
}

}  // namespace elog
