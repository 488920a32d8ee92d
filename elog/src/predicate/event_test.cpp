// SPDX-License-Identifier: MIT
#include "predicate/event_test.hpp"

#include <algorithm>
#include <compare>

#include "platform/glob.hpp"
#include "text/wide_integer.hpp"

namespace elog {
namespace {

bool judge(std::partial_ordering order, comparison how) noexcept {
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

wide_integer widen(std::uint64_t bits, bool is_signed) noexcept {
    return is_signed ? wide_integer{static_cast<std::int64_t>(bits)} : wide_integer{bits};
}

std::partial_ordering order_of(std::string_view left, std::string_view right) noexcept {
    return left.compare(right) <=> 0;
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

bool event_test::holds(const test_instruction& test, const record_view& record,
                       const clock_table& clock) const noexcept {
    const auto constant = [&] {
        return std::string_view(texts_).substr(test.text_begin, test.text_size);
    };
    std::string_view left;
    std::string_view right;
    if (test.what == test_operation::presence) {
        const bool travels_apart = test.left.type == eventlog::field_type::text;
        const bool there =
            is_there(test.left, record) && (!travels_apart || load_span(test.left, record, left));
        return there != test.negated;
    }
    if (!is_there(test.left, record)) {
        return false;
    }
    bool result = false;
    switch (test.what) {
        case test_operation::integer:
            result = (load_bits(test.left, record, clock) & test.mask) - test.low <= test.span;
            break;
        case test_operation::integer_pair: {
            if (!is_there(test.right, record)) {
                return false;
            }
            const wide_integer one =
                widen(load_bits(test.left, record, clock), test.left.is_signed);
            const wide_integer other =
                widen(load_bits(test.right, record, clock), test.right.is_signed);
            result = judge(one < other   ? std::partial_ordering::less
                           : one > other ? std::partial_ordering::greater
                                         : std::partial_ordering::equivalent,
                           test.how);
            break;
        }
        case test_operation::floating:
            result = judge(load_double(test.left, record, clock) <=> test.number, test.how);
            break;
        case test_operation::floating_pair:
            if (!is_there(test.right, record)) {
                return false;
            }
            result = judge(load_double(test.left, record, clock) <=>
                               load_double(test.right, record, clock),
                           test.how);
            break;
        case test_operation::text:
        case test_operation::glob:
        case test_operation::address:
            if (!load_span(test.left, record, left)) {
                return false;
            }
            result = test.what == test_operation::text ? judge(order_of(left, constant()), test.how)
                     : test.what == test_operation::glob
                         ? eventlog::core::glob_match(constant(), left)
                         : is_in_network(left, constant(), test.bits);
            break;
        case test_operation::text_pair:
        case test_operation::address_pair:
            if (!is_there(test.right, record) || !load_span(test.left, record, left) ||
                !load_span(test.right, record, right)) {
                return false;
            }
            result = judge(order_of(left, right), test.how);
            break;
        case test_operation::presence:
            break;
    }
    return result != test.negated;
}

bool event_test::matches(const record_view& record, const clock_table& clock) const noexcept {
    if (program_.empty()) {
        return always_;
    }
    std::uint16_t at = 0;
    do {
        const test_instruction& test = program_[at];
        at = holds(test, record, clock) ? test.on_true : test.on_false;
    } while (at < test_instruction::reject);
    return at == test_instruction::accept;
}

}  // namespace elog
