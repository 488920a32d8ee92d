// SPDX-License-Identifier: MIT
#include "predicate/comparison_compiler.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "platform/glob.hpp"
#include "text/did_you_mean.hpp"

namespace elog {

namespace {

/// The number with the same 64 bits in the other signedness, if it only fits that one: flags of a
/// signed field are written as either.
ratio with_same_bits(const ratio& number, bool is_signed) noexcept {
    constexpr wide_integer range = wide_integer{1} << 64;
    const wide_integer whole = number.numerator / number.denominator;
    if (whole * number.denominator != number.numerator) {
        return number;
    }
    if (is_signed && whole >= range / 2 && whole < range) {
        return {whole - range, 1};
    }
    return !is_signed && whole < 0 && whole >= -range / 2 ? ratio{whole + range, 1} : number;
}

/// Some names of an enumeration, as a sentence.
std::string listed(const std::vector<std::string_view>& names) {
    constexpr std::size_t most = 8;
    std::string made = " Its values are ";
    for (std::size_t i = 0; i < std::min(names.size(), most); ++i) {
        made += i == 0 ? "" : ", ";
        made += names[i];
    }
    return made + (names.size() > most ? ", and others." : ".");
}

}  // namespace

std::string comparison_compiler::called(const value_location& place) const {
    return fmt::format("'{}' of {}:{}", place.name, provider_.schema.name, event_.name);
}

std::string comparison_compiler::described(const value_location& place) const {
    return fmt::format("{} is {}", called(place), name_of(place.stored.is));
}

folded_node comparison_compiler::constant(bool value) {
    return {.is = value ? folded_node::form::always : folded_node::form::never};
}

folded_node comparison_compiler::leaf(const predicate_instruction& test) {
    return {.is = folded_node::form::leaf, .size = 1, .leaf = test};
}

predicate_instruction comparison_compiler::test_of(const value_location& place,
                                                   predicate_opcode what, comparison how,
                                                   bool negated) {
    return {.what = what, .how = how, .negated = negated, .left = place.stored};
}

/// Whether the value belongs to the process, and the process is unknown.
bool comparison_compiler::depends_on_process(const value_location& place) const noexcept {
    return context_.process_unknown && place.stored.source == field_source::fixed &&
           (place.name == "pid" || place.name == "uid" || place.name == "comm");
}

void comparison_compiler::store_text(predicate_instruction& test, std::string_view text) {
    test.text_begin = static_cast<std::uint32_t>(texts_.size());
    test.text_size = static_cast<std::uint32_t>(text.size());
    texts_ += text;
}

folded_node comparison_compiler::fold_integer(const value_location& place, std::uint64_t mask,
                                              const bit_range& range, bool negated) const {
    const bool inverted = range.is_empty != negated;
    const std::uint64_t span = range.is_empty ? ~std::uint64_t{0} : range.span;
    if (depends_on_process(place)) {
        return folded_node{.is = folded_node::form::process_dependent};
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

folded_node comparison_compiler::fold_foreign(const value_location& place, comparison how,
                                              bool negated) const {
    bit_range none;
    none.is_empty = how == comparison::equal || how == comparison::like;
    return fold_integer(place, 0, none, negated);
}

bit_selection comparison_compiler::mask_of(const value_location& place,
                                           const predicate_node& masked) {
    if (place.stored.is != value_class::integer) {
        reject(masked.column, described(place) + ": & selects bits of numbers.");
    }
    const std::size_t mask = masked.children[1];
    return {bits_of(place, mask), true, has_negative(mask)};
}

bool comparison_compiler::has_negative(std::size_t index) const {
    const predicate_node& node = node_at(index);
    return node.kind == predicate_kind::set
               ? std::any_of(node.children.begin(), node.children.end(),
                             [this](std::size_t child) { return has_negative(child); })
               : node.kind == predicate_kind::number && node.value.number.negative;
}

std::uint64_t comparison_compiler::bits_of(const value_location& place, std::size_t index) {
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

void comparison_compiler::refuse_name(const value_location& place,
                                      const predicate_node& node) const {
    if (place.enumeration == nullptr) {
        reject(node.column, fmt::format("{} has no names for its numbers, such as '{}': write "
                                        "a number.",
                                        called(place), node.place.name));
    }
    refuse_value(place, node.place.name, node.column);
}

/// No value of the enumeration has that name.
void comparison_compiler::refuse_value(const value_location& place, std::string_view name,
                                       std::size_t column) const {
    std::vector<std::string_view> names;
    for (const auto& [value, known] : place.enumeration->values) {
        names.emplace_back(known);
    }
    const std::string advice = did_you_mean(name, names);
    reject(column, fmt::format("{} has no value called '{}'.{}", called(place), name,
                               advice.empty() && !names.empty() ? listed(names) : advice));
}

std::optional<std::uint64_t> comparison_compiler::named_value(const value_location& place,
                                                              std::size_t index) {
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

folded_node comparison_compiler::fold_with_fixed(const value_location& place,
                                                 const value_location& fixed, comparison how,
                                                 bool negated) {
    if (depends_on_process(place) || depends_on_process(fixed)) {
        return folded_node{.is = folded_node::form::process_dependent};
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

folded_node comparison_compiler::fold_literal(const value_location& place, std::size_t right,
                                              comparison how, bool negated) {
    const predicate_node& literal = node_at(right);
    switch (place.stored.is) {
        case value_class::boolean:
            reject(literal.column, described(place) + ": it is compared with true or false.");
        case value_class::character:
        case value_class::integer:
            return fold_number(place, {}, right, how, negated);
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
            return fold_text(place, is_pattern(how) ? literal.value.pattern : literal.value.text,
                             how, negated);
        case value_class::address:
            return fold_address(place, literal, how, negated);
        case value_class::bytes:
            reject(literal.column,
                   fmt::format("{} and cannot be compared; has({}) says whether it is there.",
                               described(place), place.name));
        case value_class::array:
            reject(literal.column, fmt::format("{}: say which element, for example {}[0].",
                                               described(place), place.name));
    }
    return constant(false);
}

void comparison_compiler::refuse_types(const value_location& place, const predicate_node& literal,
                                       comparison how) const {
    if (is_pattern(how) && place.stored.is != value_class::text) {
        reject(literal.column,
               described(place) + ": ~ is for texts, and for addresses in a network.");
    }
    if (place.enumeration != nullptr && literal.kind == predicate_kind::text) {
        refuse_value(place, literal.value.text, literal.column);
    }
    const char* what = literal.kind == predicate_kind::number      ? "a number"
                       : literal.kind == predicate_kind::text      ? "a text"
                       : literal.kind == predicate_kind::character ? "a char"
                       : literal.kind == predicate_kind::set       ? "a set of bits"
                                                                   : "an address";
    reject(literal.column,
           fmt::format("{}, and this is {}: they cannot be compared.", described(place), what));
}

folded_node comparison_compiler::fold_number(const value_location& place,
                                             const bit_selection& selected, std::size_t right,
                                             comparison how, bool negated) {
    const predicate_node& literal = node_at(right);
    if (is_pattern(how)) {
        refuse_types(place, literal, how);
    }
    if (place.stored.is == value_class::boolean) {
        if (!is_equality(how)) {
            reject(literal.column, described(place) + ": it is compared with == and !=.");
        }
        const bit_range truth{literal.place.name == "true" ? 1U : 0U, 0, false};
        return fold_integer(place, selected.mask, truth, (how == comparison::unequal) != negated);
    }
    // As in C, the selected bits are unsigned unless both sides of & are signed.
    const bool is_signed = place.stored.is_signed && (!selected.is_masked || selected.is_negative);
    ratio number = literal_number(place, right, how, is_signed);
    if (selected.is_masked && place.stored.is_signed && is_equality(how)) {
        number = with_same_bits(number, is_signed);
    }
    return fold_integer(place, selected.mask, matching_range(number, how, is_signed), negated);
}

ratio comparison_compiler::literal_number(const value_location& place, std::size_t right,
                                          comparison how, bool is_signed) {
    const predicate_node& literal = node_at(right);
    const auto from_bits = [&](std::uint64_t bits) -> ratio {
        return {integer_of(bits, is_signed), 1};
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
                                           context_.reference_time, how),
                        1};
            }
            break;
        default:
            break;
    }
    refuse_types(place, literal, comparison::equal);
}

folded_node comparison_compiler::fold_floating(const value_location& place, double number,
                                               comparison how, bool negated) const {
    predicate_instruction test = test_of(place, predicate_opcode::floating, how, negated);
    test.number = number;
    return leaf(test);
}

folded_node comparison_compiler::fold_text(const value_location& place, std::string_view wanted,
                                           comparison how, bool negated) {
    if (depends_on_process(place)) {
        return folded_node{.is = folded_node::form::process_dependent};
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
        return constant(is_pattern(how) ? eventlog::core::glob_match(wanted, fixed) != inverted
                                        : satisfies(fixed.compare(wanted) <=> 0, how) != negated);
    }
    predicate_instruction test =
        test_of(place, is_pattern(how) ? predicate_opcode::glob : predicate_opcode::text, how,
                is_pattern(how) ? inverted : negated);
    store_text(test, wanted);
    return leaf(test);
}

folded_node comparison_compiler::fold_address(const value_location& place,
                                              const predicate_node& literal, comparison how,
                                              bool negated) {
    address_literal address = literal.value.address;
    const bool is_text = literal.kind == predicate_kind::text;
    if (literal.kind != predicate_kind::address &&
        !(is_text && parse_address(literal.value.text, address))) {
        reject(literal.column,
               described(place) +
                   ": compare it with one, such as 10.0.0.1, fe80::1 or 00:16:3e:aa:bb:cc.");
    }
    if (is_pattern(how) != address.is_network || (!is_pattern(how) && !is_equality(how))) {
        reject(literal.column, "Addresses are compared with == and !=, and with ~ and !~ when "
                               "a network such as 10.0.0.0/8 is on the right.");
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

}  // namespace elog
