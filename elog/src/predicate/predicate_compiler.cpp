// SPDX-License-Identifier: MIT
//
// Folds a predicate's tree for one event. Negations are pushed down to the comparisons, so that an
// unknown value can count as false everywhere: with only "and" and "or" above the comparisons, the
// whole is then true exactly if it is true for every value of the unknown.
#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "platform/glob.hpp"
#include "predicate/compiled_predicate.hpp"
#include "predicate/literal_values.hpp"
#include "text/did_you_mean.hpp"

namespace elog {
namespace {

bool is_pattern(comparison how) noexcept {
    return how == comparison::like || how == comparison::unlike;
}

bool is_equality(comparison how) noexcept {
    return how == comparison::equal || how == comparison::unequal;
}

folded_node constant(bool value) {
    return {value ? folded_node::form::always : folded_node::form::never, 0, {}, {}, 0};
}

/// Whether the value belongs to the process and not to the event.
bool is_of_process(const value_location& place) noexcept {
    return place.stored.source == field_source::fixed &&
           (place.name == "pid" || place.name == "uid" || place.name == "comm");
}

class predicate_compiler {
  public:
    predicate_compiler(const predicate_context& context, const provider_instance& provider,
                       const event_schema& event)
        : context_(context), provider_(provider), event_(event) {}

    folded_predicate build() {
        note_names();
        folded_node whole = fold(context_.wanted.root(), false);
        return {std::move(whole), std::move(texts_)};
    }

  private:
    [[nodiscard]] const predicate_node& node_at(std::size_t index) const {
        return context_.wanted.nodes()[index];
    }

    [[noreturn]] void reject(std::size_t column, std::string_view reason) const {
        reject_expression(context_.wanted.source(), column, reason);
    }

    [[nodiscard]] std::string called(const value_location& place) const {
        return fmt::format("'{}' of {}:{}", place.name, provider_.schema.name, event_.name);
    }

    std::optional<value_location> place_of(const predicate_node& node) {
        return find_location(node.place, provider_, event_, context_.wanted.source());
    }

    /// Includes conditions that cannot affect the result for this event.
    void note_names() {
        for (std::size_t i = 0; i < context_.wanted.nodes().size(); ++i) {
            const predicate_node& node = node_at(i);
            if (node.kind != predicate_kind::name) {
                continue;
            }
            field_reference whole = node.place;
            whole.has_index = false;
            if (find_location(whole, provider_, event_, {})) {
                context_.known[i] = true;
            }
        }
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

    static folded_node leaf(const predicate_instruction& test) {
        return {folded_node::form::leaf, 1, test, {}, 0};
    }

    static predicate_instruction test_of(const value_location& place, predicate_opcode what,
                                         comparison how, bool negated) {
        predicate_instruction test;
        test.what = what;
        test.how = how;
        test.negated = negated;
        test.left = place.stored;
        return test;
    }

    void store_text(predicate_instruction& test, std::string_view text) {
        test.text_begin = static_cast<std::uint32_t>(texts_.size());
        test.text_size = static_cast<std::uint32_t>(text.size());
        texts_ += text;
    }

    folded_node fold_integer(const value_location& place, std::uint64_t mask,
                             const bit_range& range, bool negated) {
        const bool inverted = range.is_empty != negated;
        const std::uint64_t span = range.is_empty ? ~std::uint64_t{0} : range.span;
        if (depends_on_process(place)) {
            return process_dependent();
        }
        if (place.stored.source == field_source::fixed) {
            return constant(((place.fixed_bits & mask) - range.low <= span) != inverted);
        }
        predicate_instruction test =
            test_of(place, predicate_opcode::integer, comparison::equal, inverted);
        test.mask = mask;
        test.low = range.low;
        test.span = span;
        return leaf(test);
    }

    /// Whether the value depends on the process and the process is unknown.
    [[nodiscard]] bool depends_on_process(const value_location& place) const noexcept {
        return context_.process_unknown && is_of_process(place);
    }
    static folded_node process_dependent() {
        return {folded_node::form::process_dependent, 0, {}, {}, 0};
    }

    /// The value cannot be equal to the literal; the result is still unknown without a value.
    folded_node fold_foreign(const value_location& place, comparison how, bool negated) {
        bit_range none;
        none.is_empty = how == comparison::equal || how == comparison::like;
        return fold_integer(place, 0, none, negated);
    }

    folded_node fold_truth(const predicate_node& node, bool negated) {
        const predicate_node& value = node_at(node.children[0]);
        const bool is_masked = value.kind == predicate_kind::masked;
        const std::optional<value_location> place =
            place_of(is_masked ? node_at(value.children[0]) : value);
        if (!place) {
            return constant(false);
        }
        const std::uint64_t mask = is_masked ? mask_of(*place, value) : ~std::uint64_t{0};
        if (!is_masked && place->stored.is != value_class::boolean) {
            reject(value.column, fmt::format("{} is {}, no condition: compare it with something.",
                                             called(*place), name_of(place->stored.is)));
        }
        return fold_integer(*place, mask, {0, 0, false}, !negated);
    }

    folded_node fold_presence(const predicate_node& name, bool negated) {
        const std::optional<value_location> place = place_of(name);
        if (!place || place->stored.source != field_source::payload) {
            return constant(place.has_value() != negated);
        }
        return leaf(test_of(*place, predicate_opcode::presence, comparison::equal, negated));
    }

    std::uint64_t mask_of(const value_location& place, const predicate_node& masked) {
        if (place.stored.is != value_class::integer) {
            reject(masked.column, fmt::format("{} is {}: & takes bits out of numbers.",
                                              called(place), name_of(place.stored.is)));
        }
        return bits_of(place, masked.children[1]);
    }

    /// The bits of a number, a name, or a set of both.
    std::uint64_t bits_of(const value_location& place, std::size_t index) {
        const predicate_node& node = node_at(index);
        std::uint64_t bits = 0;
        if (node.kind == predicate_kind::set) {
            for (const std::size_t child : node.children) {
                bits |= bits_of(place, child);
            }
            return bits;
        }
        if (node.kind == predicate_kind::name) {
            const std::optional<std::uint64_t> value = named_value(place, index);
            if (!value) {
                refuse_name(place, node);
            }
            return *value;
        }
        const number_literal& number = node.value.number;
        const wide_integer value = integer_literal(context_.wanted.source(), node.value);
        if (number.negative && !place.stored.is_signed && value != 0) {
            reject(node.column, "A set of bits is no negative number.");
        }
        return static_cast<std::uint64_t>(value);
    }

    [[noreturn]] void refuse_name(const value_location& place, const predicate_node& node) {
        if (place.enumeration == nullptr) {
            reject(node.column, fmt::format("{} has no names for its numbers, such as '{}': write "
                                            "a number.",
                                            called(place), node.place.name));
        }
        std::vector<std::string_view> names;
        for (const auto& [value, name] : place.enumeration->values) {
            names.emplace_back(name);
        }
        reject(node.column, fmt::format("{} has no value called '{}'.{}", called(place),
                                        node.place.name, did_you_mean(node.place.name, names)));
    }

    /// The number of a name in the field's enumeration or in errno.
    std::optional<std::uint64_t> named_value(const value_location& place, std::size_t index) {
        const predicate_node& node = node_at(index);
        if (node.place.field_only || node.place.has_index) {
            return std::nullopt;
        }
        const std::optional<std::uint64_t> value =
            find_named_value(place, node.place.name, node.negative);
        if (value) {
            context_.known[index] = true;
        }
        return value;
    }

    // Relations -----------------------------------------------------------------------------------

    folded_node fold_relation(const predicate_node& node, bool negated) {
        std::size_t left = node.children[0];
        std::size_t right = node.children[1];
        comparison how = node.how;
        const auto is_named = [this](std::size_t index) {
            return node_at(index).kind == predicate_kind::name ||
                   node_at(index).kind == predicate_kind::masked;
        };
        if (is_named(left) && is_named(right)) {
            return fold_names(node, left, right, negated);
        }
        if (!is_named(left)) {
            if (is_pattern(how)) {
                reject(node.column, "On the left of ~ stands the field.");
            }
            std::swap(left, right);
            how = mirrored(how);
        }
        const predicate_node& value = node_at(left);
        const bool is_masked = value.kind == predicate_kind::masked;
        const std::optional<value_location> place =
            place_of(is_masked ? node_at(value.children[0]) : value);
        if (!place) {
            return constant(false);
        }
        if (value.negative) {
            reject(value.column, "Behind - stands a number.");
        }
        if (is_masked) {
            const std::uint64_t mask = mask_of(*place, value);
            return fold_number(*place, mask, right, how, negated);
        }
        return fold_literal(*place, right, how, negated);
    }

    /// Two names: a field and one of its values, or two fields.
    folded_node fold_names(const predicate_node& node, std::size_t left, std::size_t right,
                           bool negated) {
        const auto name_in = [this](std::size_t index) {
            const predicate_node& inner = node_at(index);
            return inner.kind == predicate_kind::masked ? inner.children[0] : index;
        };
        const std::optional<value_location> one = place_of(node_at(name_in(left)));
        const std::optional<value_location> other = place_of(node_at(name_in(right)));
        const auto is_value = [&](const std::optional<value_location>& place, std::size_t index) {
            return place && node_at(index).kind == predicate_kind::name &&
                   (named_value(*place, index) || is_truth_value(*place, index));
        };
        const auto mask_at = [&](const value_location& place, std::size_t index) {
            const predicate_node& inner = node_at(index);
            return inner.kind == predicate_kind::masked ? mask_of(place, inner) : ~std::uint64_t{0};
        };
        if (is_value(one, right)) {
            return fold_number(*one, mask_at(*one, left), right, node.how, negated);
        }
        if (is_value(other, left)) {
            return fold_number(*other, mask_at(*other, right), left, mirrored(node.how), negated);
        }
        if (!one || !other) {
            return constant(false);
        }
        if (node_at(left).kind == predicate_kind::masked ||
            node_at(right).kind == predicate_kind::masked) {
            reject(node.column, "Bits taken out of a field are compared with a number or a name.");
        }
        for (const std::size_t side : {left, right}) {
            if (node_at(side).negative) {
                reject(node_at(side).column, "Behind - stands a number.");
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
        context_.known[index] = true;
        return true;
    }

    folded_node fold_pair(const predicate_node& node, const value_location& one,
                          const value_location& other, bool negated) {
        const value_class is = one.stored.is;
        const bool numbers = is_number(is) && is_number(other.stored.is);
        if (!numbers && is != other.stored.is) {
            reject(node.column,
                   fmt::format("{} is {}, and {} is {}: they cannot be compared.", called(one),
                               name_of(is), called(other), name_of(other.stored.is)));
        }
        if (is_pattern(node.how)) {
            reject(node.column, "On the right of ~ stands a text in quotes, or a network.");
        }
        if (is == value_class::bytes || is == value_class::array ||
            (is == value_class::address && !is_equality(node.how))) {
            reject(node.column, fmt::format("{} is {}: it cannot be compared like that.",
                                            called(one), name_of(is)));
        }
        if (other.stored.source == field_source::fixed) {
            return fold_with_fixed(one, other, node.how, negated);
        }
        if (one.stored.source == field_source::fixed) {
            return fold_with_fixed(other, one, mirrored(node.how), negated);
        }
        const bool floating =
            is == value_class::floating || other.stored.is == value_class::floating;
        predicate_instruction test =
            test_of(one,
                    is == value_class::text      ? predicate_opcode::text_pair
                    : is == value_class::address ? predicate_opcode::address_pair
                    : floating                   ? predicate_opcode::floating_pair
                                                 : predicate_opcode::integer_pair,
                    node.how, negated);
        test.right = other.stored;
        return leaf(test);
    }

    /// The other side is the same for all records.
    folded_node fold_with_fixed(const value_location& place, const value_location& fixed,
                                comparison how, bool negated) {
        if (depends_on_process(place) || depends_on_process(fixed)) {
            return process_dependent();
        }
        if (fixed.stored.is == value_class::text) {
            return fold_text(place, fixed.fixed_text, how, negated);
        }
        if (place.stored.is == value_class::floating) {
            return fold_floating(place, static_cast<double>(fixed.fixed_bits), how, negated);
        }
        const ratio number{static_cast<wide_integer>(fixed.fixed_bits), 1};
        return fold_integer(place, ~std::uint64_t{0},
                            matching_range(number, how, place.stored.is_signed), negated);
    }

    folded_node fold_literal(const value_location& place, std::size_t right, comparison how,
                             bool negated) {
        const predicate_node& literal = node_at(right);
        switch (place.stored.is) {
            case value_class::boolean:
                reject(
                    literal.column,
                    fmt::format("{} is a bool: it is compared with true or false.", called(place)));
            case value_class::character:
            case value_class::integer:
                return fold_number(place, ~std::uint64_t{0}, right, how, negated);
            case value_class::floating:
                if (literal.kind != predicate_kind::number || is_pattern(how)) {
                    refuse_types(place, literal, how);
                }
                return fold_floating(
                    place,
                    floating_literal(context_.wanted.source(), place, literal.value, called(place)),
                    how, negated);
            case value_class::text:
                if (literal.kind != predicate_kind::text) {
                    refuse_types(place, literal, how);
                }
                return fold_text(place, literal.value.text, how, negated);
            case value_class::address:
                return fold_address(place, literal, how, negated);
            case value_class::bytes:
                reject(literal.column, fmt::format("{} is a byte string and cannot be compared; "
                                                   "has({}) says whether it is there.",
                                                   called(place), place.name));
            case value_class::array:
                reject(literal.column,
                       fmt::format("{} is an array: say which element, for example {}[0].",
                                   called(place), place.name));
        }
        return constant(false);
    }

    [[noreturn]] void refuse_types(const value_location& place, const predicate_node& literal,
                                   comparison how) const {
        if (is_pattern(how) && place.stored.is != value_class::text) {
            reject(literal.column,
                   fmt::format("{} is {}: ~ is for texts, and for addresses in a network.",
                               called(place), name_of(place.stored.is)));
        }
        const char* what = literal.kind == predicate_kind::number      ? "a number"
                           : literal.kind == predicate_kind::text      ? "a text"
                           : literal.kind == predicate_kind::character ? "a char"
                           : literal.kind == predicate_kind::set       ? "a set of bits"
                                                                       : "an address";
        reject(literal.column, fmt::format("{} is {}, and this is {}: they cannot be compared.",
                                           called(place), name_of(place.stored.is), what));
    }

    folded_node fold_number(const value_location& place, std::uint64_t mask, std::size_t right,
                            comparison how, bool negated) {
        const predicate_node& literal = node_at(right);
        if (is_pattern(how)) {
            refuse_types(place, literal, how);
        }
        if (place.stored.is == value_class::boolean) {
            if (!is_equality(how)) {
                reject(literal.column,
                       fmt::format("{} is a bool: it is compared with == and !=.", called(place)));
            }
            const bit_range truth{literal.place.name == "true" ? 1U : 0U, 0, false};
            return fold_integer(place, mask, truth, (how == comparison::unequal) != negated);
        }
        const ratio number = literal_number(place, right);
        return fold_integer(place, mask, matching_range(number, how, place.stored.is_signed),
                            negated);
    }

    /// The number of a literal that an integer or char can be compared with.
    ratio literal_number(const value_location& place, std::size_t right) {
        const predicate_node& literal = node_at(right);
        const auto from_bits = [&](std::uint64_t bits) -> ratio {
            return {integer_of(bits, place.stored.is_signed), 1};
        };
        if (place.stored.is == value_class::character) {
            const bool is_one =
                literal.kind == predicate_kind::character ||
                (literal.kind == predicate_kind::text && literal.value.text.size() == 1);
            if (!is_one) {
                refuse_types(place, literal, comparison::equal);
            }
            return {static_cast<unsigned char>(literal.value.text[0]), 1};
        }
        switch (literal.kind) {
            case predicate_kind::number:
                return literal_in_field_unit(context_.wanted.source(), place, literal.value,
                                             called(place));
            case predicate_kind::name:
                return from_bits(*named_value(place, right));
            case predicate_kind::set:
                return from_bits(bits_of(place, right));
            case predicate_kind::text:
                if (const auto value = find_named_value(place, literal.value.text, false)) {
                    return from_bits(*value);
                }
                if (place.format == eventlog::format::realtime) {
                    return {parse_time_literal(context_.wanted.source(), literal.value,
                                               context_.reference_time),
                            1};
                }
                break;
            default:
                break;
        }
        refuse_types(place, literal, comparison::equal);
    }

    folded_node fold_floating(const value_location& place, double number, comparison how,
                              bool negated) {
        predicate_instruction test = test_of(place, predicate_opcode::floating, how, negated);
        test.number = number;
        return leaf(test);
    }

    folded_node fold_text(const value_location& place, std::string_view wanted, comparison how,
                          bool negated) {
        if (depends_on_process(place)) {
            return process_dependent();
        }
        const bool inverted = (how == comparison::unlike) != negated;
        std::string joined;
        std::string_view fixed = place.fixed_text;
        if (place.stored.source == field_source::fixed && place.name == "event" &&
            wanted.find(':') != std::string_view::npos) {
            joined = fmt::format("{}:{}", provider_.schema.name, event_.name);
            fixed = joined;
        }
        if (place.stored.source == field_source::fixed) {
            return constant(is_pattern(how)
                                ? eventlog::core::glob_match(wanted, fixed) != inverted
                                : satisfies(fixed.compare(wanted) <=> 0, how) != negated);
        }
        predicate_instruction test =
            test_of(place, is_pattern(how) ? predicate_opcode::glob : predicate_opcode::text, how,
                    is_pattern(how) ? inverted : negated);
        store_text(test, wanted);
        return leaf(test);
    }

    folded_node fold_address(const value_location& place, const predicate_node& literal,
                             comparison how, bool negated) {
        address_literal address = literal.value.address;
        const bool is_text = literal.kind == predicate_kind::text;
        if (literal.kind != predicate_kind::address &&
            !(is_text && parse_address(literal.value.text, address))) {
            reject(literal.column, fmt::format("{} is an address: compare it with one, such as "
                                               "10.0.0.1, fe80::1 or 00:16:3e:aa:bb:cc.",
                                               called(place)));
        }
        if (is_pattern(how) != address.is_network || (!is_pattern(how) && !is_equality(how))) {
            reject(literal.column, "Addresses are compared with == and !=, and with ~ and !~ when "
                                   "a network such as 10.0.0.0/8 stands on the right.");
        }
        const bool is_mac = place.format == eventlog::format::mac_address;
        if (is_mac != (address.size == 6)) {
            reject(literal.column, fmt::format("{} is {}, and this is not.", called(place),
                                               is_mac ? "a MAC address" : "an IP address"));
        }
        map_ipv4_to_ipv6(place.stored.size, address);
        if (address.size != place.stored.size) {
            return fold_foreign(place, how, negated);
        }
        const bool inverted = (how == comparison::unequal || how == comparison::unlike) != negated;
        predicate_instruction test = test_of(place, predicate_opcode::address, how, inverted);
        test.bits = static_cast<std::uint32_t>(address.bits);
        store_text(test, {reinterpret_cast<const char*>(address.bytes.data()), address.size});
        return leaf(test);
    }

    const predicate_context& context_;
    const provider_instance& provider_;
    const event_schema& event_;
    std::string texts_;
};

}  // namespace

folded_predicate fold(const predicate_context& context, const provider_instance& provider,
                      const event_schema& event) {
    return predicate_compiler(context, provider, event).build();
}

void compiled_predicate::emit_code(const folded_node& part, std::size_t at, std::uint16_t on_true,
                                   std::uint16_t on_false) {
    if (part.is == folded_node::form::leaf) {
        program_[at] = part.leaf;
        program_[at].on_true = on_true;
        program_[at].on_false = on_false;
        return;
    }
    const bool all = part.is == folded_node::form::all_of;
    for (const folded_node& child : part.children) {
        const std::size_t next = at + child.size;
        const bool is_last = &child == &part.children.back();
        const auto behind = static_cast<std::uint16_t>(next);
        emit_code(child, at, is_last || !all ? on_true : behind,
                  is_last || all ? on_false : behind);
        at = next;
    }
}

compiled_predicate::compiled_predicate(const predicate_context& context,
                                       const provider_instance& provider,
                                       const event_schema& event) {
    folded_predicate folded = fold(context, provider, event);
    always_ = folded.whole.is == folded_node::form::always;
    program_.resize(folded.whole.size);
    if (folded.whole.size != 0) {
        emit_code(folded.whole, 0, predicate_instruction::accept, predicate_instruction::reject);
    }
    texts_ = std::move(folded.texts);
}

}  // namespace elog
