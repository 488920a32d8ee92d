// SPDX-License-Identifier: MIT
#include "predicate/compiled_predicate.hpp"

#include <utility>

#include "platform/glob.hpp"

namespace elog {
bool satisfies(std::partial_ordering order, comparison how) noexcept {
    switch (how) {
        case comparison::equal:
            return order == std::partial_ordering::equivalent;
        case comparison::unequal:
            return order != std::partial_ordering::equivalent;
        case comparison::less:
            return order == std::partial_ordering::less;
        case comparison::less_equal:
            return std::is_lteq(order);
        case comparison::greater:
            return order == std::partial_ordering::greater;
        case comparison::greater_equal:
            return std::is_gteq(order);
        default:
            return false;
    }
}

namespace {

std::partial_ordering order_of(std::string_view left, std::string_view right) noexcept {
    return left.compare(right) <=> 0;
}

/// An IPv4 address is compared with an IPv6 address as ::ffff:ADDRESS.
std::partial_ordering order_of_addresses(std::string_view left, std::string_view right) noexcept {
    constexpr std::string_view mapped("\0\0\0\0\0\0\0\0\0\0\xff\xff", 12);
    if (left.size() == right.size()) {
        return order_of(left, right);
    }
    const std::string_view longer = left.size() > right.size() ? left : right;
    const std::string_view shorter = left.size() > right.size() ? right : left;
    const bool is_equal = longer.starts_with(mapped) && longer.substr(mapped.size()) == shorter;
    return is_equal ? std::partial_ordering::equivalent : std::partial_ordering::unordered;
}

/// Whether the first bits of the address are those of the network.
bool is_in_network(std::string_view address, std::string_view network, std::size_t bits) noexcept {
    const std::size_t whole = bits / 8;
    if (address.size() != network.size() || address.substr(0, whole) != network.substr(0, whole)) {
        return false;
    }
    const unsigned rest = bits % 8;
    const auto differing =
        static_cast<unsigned char>(rest == 0 ? 0
                                             : static_cast<unsigned char>(address[whole]) ^
                                                   static_cast<unsigned char>(network[whole]));
    return rest == 0 || differing >> (8U - rest) == 0;
}

}  // namespace

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

bool compiled_predicate::evaluate(const predicate_instruction& test, const record_view& record,
                                  const clock_converter& clock) const noexcept {
    const auto constant = [&] {
        return std::string_view(texts_).substr(test.text_begin, test.text_size);
    };
    std::string_view left;
    std::string_view right;
    if (test.what == predicate_opcode::presence) {
        const bool travels_apart = test.left.type == eventlog::field_type::text;
        const bool there =
            is_there(test.left, record) && (!travels_apart || load_span(test.left, record, left));
        return there != test.negated;
    }
    const bool is_pair = test.what == predicate_opcode::integer_pair ||
                         test.what == predicate_opcode::floating_pair ||
                         test.what == predicate_opcode::span_pair;
    if (!is_there(test.left, record) || (is_pair && !is_there(test.right, record))) {
        return false;
    }
    bool result = false;
    switch (test.what) {
        case predicate_opcode::integer:
            result = (load_bits(test.left, record, clock) & test.mask) - test.low <= test.span;
            break;
        case predicate_opcode::integer_pair: {
            // 64 bits times 45 bits: no overflow of 127 bits.
            const wide_integer one =
                integer_of(load_bits(test.left, record, clock), test.left.is_signed) *
                static_cast<wide_integer>(test.left_factor);
            const wide_integer other =
                integer_of(load_bits(test.right, record, clock), test.right.is_signed) *
                static_cast<wide_integer>(test.right_factor);
            result = satisfies(one < other   ? std::partial_ordering::less
                               : one > other ? std::partial_ordering::greater
                                             : std::partial_ordering::equivalent,
                               test.how);
            break;
        }
        case predicate_opcode::floating:
            result = satisfies(load_double(test.left, record, clock) <=> test.number, test.how);
            break;
        case predicate_opcode::floating_pair:
            result = satisfies(
                load_double(test.left, record, clock) * static_cast<double>(test.left_factor) <=>
                    load_double(test.right, record, clock) * static_cast<double>(test.right_factor),
                test.how);
            break;
        case predicate_opcode::text:
        case predicate_opcode::glob:
        case predicate_opcode::address:
            if (!load_span(test.left, record, left)) {
                return false;
            }
            result = test.what == predicate_opcode::text
                         ? satisfies(order_of(left, constant()), test.how)
                     : test.what == predicate_opcode::glob
                         ? eventlog::core::glob_match(constant(), left)
                         : is_in_network(left, constant(), test.bits);
            break;
        case predicate_opcode::span_pair:
            if (!load_span(test.left, record, left) || !load_span(test.right, record, right)) {
                return false;
            }
            result =
                satisfies(test.left.is == value_class::address ? order_of_addresses(left, right)
                                                               : order_of(left, right),
                          test.how);
            break;
        case predicate_opcode::presence:
            break;
    }
    return result != test.negated;
}

bool compiled_predicate::matches(const record_view& record,
                                 const clock_converter& clock) const noexcept {
    if (program_.empty()) {
        return always_;
    }
    std::uint16_t at = 0;
    do {
        const predicate_instruction& test = program_[at];
        at = evaluate(test, record, clock) ? test.on_true : test.on_false;
    } while (at < predicate_instruction::reject);
    return at == predicate_instruction::accept;
}

}  // namespace elog
