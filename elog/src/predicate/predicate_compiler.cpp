// SPDX-License-Identifier: MIT
//
// Folds a predicate's tree for one event. Negations are pushed down to the comparisons, so that an
// unknown value can count as false everywhere: with only "and" and "or" above the comparisons, the
// whole is then true exactly if it is true for every value of the unknown.
#include <optional>
#include <utility>

#include "predicate/comparison_compiler.hpp"

namespace elog {
namespace {

class predicate_compiler : private comparison_compiler {
  public:
    predicate_compiler(const predicate_context& context, const provider_instance& provider,
                       const event_schema& event)
        : comparison_compiler(context, provider, event) {}

    folded_predicate build() {
        note_names();
        folded_node whole = fold(context().wanted.root(), false);
        return {std::move(whole), take_texts()};
    }

  private:
    /// Includes conditions that cannot affect the result for this event.
    void note_names() {
        for (std::size_t i = 0; i < context().wanted.nodes().size(); ++i) {
            const predicate_node& node = node_at(i);
            if (node.kind == predicate_kind::name) {
                note_field(i);
            } else if (node.kind == predicate_kind::relation) {
                note_values(node.children[0], node.children[1]);
                note_values(node.children[1], node.children[0]);
            } else if (is_masked(node)) {
                note_values(node.children[0], node.children[1]);
            }
        }
    }

    void note_field(std::size_t name) {
        field_reference whole = node_at(name).place;
        whole.has_index = false;
        if (find_location(whole, provider(), event(), {})) {
            context().known[name] = true;
        }
    }

    /// Notes the names at node `right` that are values of the field at node `left`.
    void note_values(std::size_t left, std::size_t right) {
        const predicate_node& value = node_at(left);
        if (value.kind != predicate_kind::name && !is_masked(value)) {
            return;
        }
        if (const std::optional<value_location> place = element_of_field(value)) {
            note_values_of(*place, right);
        }
    }

    /// The field of a name, or of a name with a mask; of an array its first element, whatever the
    /// index is: folding reports a wrong one, if the condition can affect the result.
    [[nodiscard]] std::optional<value_location> element_of_field(
        const predicate_node& value) const {
        field_reference name = (is_masked(value) ? node_at(value.children[0]) : value).place;
        name.has_index = false;
        const std::optional<value_location> whole = find_location(name, provider(), event(), {});
        if (!whole || whole->stored.is != value_class::array) {
            return whole;
        }
        name.has_index = true;
        name.index = 0;
        return find_location(name, provider(), event(), {});
    }

    void note_values_of(const value_location& place, std::size_t right) {
        const predicate_node& value = node_at(right);
        for (const std::size_t child : value.children) {
            if (value.kind == predicate_kind::set) {
                note_values_of(place, child);
            }
        }
        if (value.kind == predicate_kind::name) {
            static_cast<void>(note_value(place, right));
        }
    }

    /// Whether the name is a value of the field.
    bool note_value(const value_location& place, std::size_t name) {
        return named_value(place, name) || is_truth_value(place, name);
    }

    // The tree ------------------------------------------------------------------------------------

    folded_node fold(std::size_t index, bool negated) {
        const predicate_node& node = node_at(index);
        switch (node.kind) {
            case predicate_kind::negation:
                return fold(node.children[0], !negated);
            case predicate_kind::conjunction:
            case predicate_kind::disjunction:
                return fold_list(node, negated);
            default: {
                folded_node part = fold_condition(node, negated);
                part.column = node_at(node.children[0]).column;
                return part;
            }
        }
    }

    folded_node fold_condition(const predicate_node& node, bool negated) {
        switch (node.kind) {
            case predicate_kind::relation:
                return fold_relation(node, negated);
            case predicate_kind::truth:
                return fold_truth(node, negated);
            case predicate_kind::presence:
                return fold_presence(node_at(node.children[0]), negated);
            default:
                return constant(false);  // a value: excluded by the parser
        }
    }

    /// A child that decides the whole (false for "and") makes type errors of the other children
    /// irrelevant: event == "x" && ... keeps conditions for x from being applied to other events.
    folded_node fold_list(const predicate_node& node, bool negated) {
        const bool all = (node.kind == predicate_kind::conjunction) != negated;
        const folded_node::form deciding =
            all ? folded_node::form::never : folded_node::form::always;
        const folded_node::form neutral =
            all ? folded_node::form::always : folded_node::form::never;
        folded_node list;
        list.is = all ? folded_node::form::all_of : folded_node::form::any_of;
        std::optional<user_error> mistake;
        for (const std::size_t child : node.children) {
            try {
                folded_node part = fold(child, negated);
                if (part.is == deciding) {
                    return constant(!all);
                }
                if (part.is != neutral) {
                    list.size += part.size;
                    list.children.push_back(std::move(part));
                }
            } catch (const user_error& error) {
                mistake = mistake ? mistake : std::optional(error);
            }
        }
        if (mistake) {
            throw user_error(*mistake);
        }
        if (list.children.empty()) {
            return constant(all);
        }
        return list.children.size() == 1 ? folded_node(std::move(list.children.front())) : list;
    }

    // Leaves --------------------------------------------------------------------------------------

    static bool is_masked(const predicate_node& value) noexcept {
        return value.kind == predicate_kind::masked;
    }

    /// The field of a name, or of a name with a mask.
    [[nodiscard]] std::optional<value_location> field_of(const predicate_node& value) const {
        return place_of(is_masked(value) ? node_at(value.children[0]) : value);
    }

    [[nodiscard]] bit_selection mask_in(const value_location& place, const predicate_node& value) {
        return is_masked(value) ? mask_of(place, value) : bit_selection{};
    }

    folded_node fold_truth(const predicate_node& node, bool negated) {
        const predicate_node& value = node_at(node.children[0]);
        const std::optional<value_location> place = field_of(value);
        if (!place) {
            return constant(false);
        }
        const std::uint64_t mask = mask_in(*place, value).mask;
        if (!is_masked(value) && place->stored.is != value_class::boolean) {
            reject(value.column, described(*place) + ", no condition: compare it with something.");
        }
        return fold_integer(*place, mask, {0, 0, false}, !negated);
    }

    folded_node fold_presence(const predicate_node& name, bool negated) {
        const std::optional<value_location> place = place_of(name);
        if (!place || !is_in_payload(place->stored.source)) {
            return constant(place.has_value() != negated);
        }
        return leaf(test_of(*place, predicate_opcode::presence, comparison::equal, negated));
    }

    // Relations -----------------------------------------------------------------------------------

    folded_node fold_relation(const predicate_node& node, bool negated) {
        std::size_t left = node.children[0];
        std::size_t right = node.children[1];
        comparison how = node.how;
        const auto is_named = [this](std::size_t index) {
            return node_at(index).kind == predicate_kind::name || is_masked(node_at(index));
        };
        if (is_named(left) && is_named(right)) {
            return fold_names(node, left, right, negated);
        }
        if (!is_named(left)) {
            if (is_pattern(how)) {
                reject(node.column, "The field must be on the left of ~.");
            }
            std::swap(left, right);
            how = mirrored(how);
        }
        const predicate_node& value = node_at(left);
        const std::optional<value_location> place = field_of(value);
        if (!place) {
            return constant(false);
        }
        if (value.negative) {
            reject(value.column, "A number must follow -.");
        }
        return is_masked(value) ? fold_number(*place, mask_of(*place, value), right, how, negated)
                                : fold_literal(*place, right, how, negated);
    }

    /// Two names: a field and one of its values, or two fields.
    folded_node fold_names(const predicate_node& node, std::size_t left, std::size_t right,
                           bool negated) {
        const std::optional<value_location> one = field_of(node_at(left));
        const std::optional<value_location> other = field_of(node_at(right));
        const auto is_value = [&](const std::optional<value_location>& place, std::size_t index) {
            return place && node_at(index).kind == predicate_kind::name &&
                   note_value(*place, index);
        };
        if (is_value(one, right)) {
            return fold_number(*one, mask_in(*one, node_at(left)), right, node.how, negated);
        }
        if (is_value(other, left)) {
            return fold_number(*other, mask_in(*other, node_at(right)), left, mirrored(node.how),
                               negated);
        }
        if (!one || !other) {
            const std::size_t name = one ? right : left;
            if ((one || other) && is_value(element_of_field(node_at(one ? left : right)), name)) {
                return fold_literal(one ? *one : *other, name, node.how, negated);  // whole array
            }
            return constant(false);
        }
        if (is_masked(node_at(left)) || is_masked(node_at(right))) {
            reject(node.column, "Bits of a field are compared with a number or a name.");
        }
        for (const std::size_t side : {left, right}) {
            if (node_at(side).negative) {
                reject(node_at(side).column, "A number must follow -.");
            }
        }
        return fold_pair(node, *one, *other, negated);
    }

    /// Whether the name is true or false, and the field a bool.
    bool is_truth_value(const value_location& place, std::size_t index) {
        const field_reference& name = node_at(index).place;
        if (place.stored.is != value_class::boolean || name.has_index || name.field_only ||
            node_at(index).negative || (name.name != "true" && name.name != "false")) {
            return false;
        }
        context().known[index] = true;
        return true;
    }

    folded_node fold_pair(const predicate_node& node, const value_location& one,
                          const value_location& other, bool negated) {
        const value_class is = one.stored.is;
        const bool numbers = is_number(is) && is_number(other.stored.is);
        if (!numbers && is != other.stored.is) {
            reject(node.column, fmt::format("{}, and {}: they cannot be compared.", described(one),
                                            described(other)));
        }
        if (is_pattern(node.how)) {
            reject(node.column, "The right side of ~ must be a text in quotes, or a network.");
        }
        if (is == value_class::bytes || is == value_class::array ||
            (is == value_class::address && !is_equality(node.how))) {
            reject(node.column, described(one) + ": it cannot be compared like that.");
        }
        const unit_factors units = numbers ? units_of_pair(node, one, other) : unit_factors{};
        if (is == value_class::address && is_mac(one) != is_mac(other)) {
            reject(node.column, "A MAC address and an IP address cannot be compared.");
        }
        if (other.stored.source == field_source::fixed) {
            return fold_with_fixed(one, other, node.how, negated);
        }
        if (one.stored.source == field_source::fixed) {
            return fold_with_fixed(other, one, mirrored(node.how), negated);
        }
        const bool floating =
            is == value_class::floating || other.stored.is == value_class::floating;
        predicate_instruction test = test_of(one,
                                             is == value_class::text || is == value_class::address
                                                 ? predicate_opcode::span_pair
                                             : floating ? predicate_opcode::floating_pair
                                                        : predicate_opcode::integer_pair,
                                             node.how, negated);
        test.right = other.stored;
        test.left_factor = units.left;
        test.right_factor = units.right;
        return leaf(test);
    }

    static bool is_mac(const value_location& place) noexcept {
        return place.format == eventlog::format::mac_address;
    }

    [[nodiscard]] unit_factors units_of_pair(const predicate_node& node, const value_location& one,
                                             const value_location& other) const {
        const std::optional<unit_factors> units = common_unit(one, other);
        if (!units) {
            reject(node.column,
                   fmt::format("{} is {}, and {} is {}: they cannot be compared.", called(one),
                               describe_unit(one), called(other), describe_unit(other)));
        }
        return *units;
    }
};

}  // namespace

folded_predicate fold(const predicate_context& context, const provider_instance& provider,
                      const event_schema& event) {
    return predicate_compiler(context, provider, event).build();
}

}  // namespace elog
