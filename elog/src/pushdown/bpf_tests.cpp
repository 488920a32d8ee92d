// SPDX-License-Identifier: MIT
#include "pushdown/bpf_tests.hpp"

#include <string_view>

#include "base/failure.hpp"
#include "pushdown/bpf_fields.hpp"

namespace elog {
namespace {

namespace tracefs = eventlog::tracefs;
using tracefs::bpf_comparison;
using tracefs::bpf_operation;
using tracefs::bpf_program;
using jump_label = bpf_program::label;
using reg = tracefs::bpf_register;

constexpr std::uint64_t all_bits = ~std::uint64_t{0};
// Each takes some ten instructions, of which there are to be no more than the kernel reads at ease.
constexpr std::size_t tests_max = 200;

const char* reason_not_to_ask(const folded_test& part) {
    const test_instruction& test = part.leaf;
    if (part.is == folded_test::form::open) {
        return "whose process an event is, is found out here";
    }
    if (part.is != folded_test::form::leaf) {
        return nullptr;
    }
    const bool is_timed =
        test.left.home == place_home::clock || test.right.home == place_home::clock;
    switch (test.what) {
        case test_operation::integer:
        case test_operation::integer_pair:
            return is_timed ? "BPF programs do not ask for times" : nullptr;
        case test_operation::presence:
            return nullptr;
        default:
            return "BPF programs compare integers and bools, and nothing else";
    }
}

void check_supported(const folded_test& part, std::uint32_t fixed_size) {
    if (const char* const reason = reason_not_to_ask(part)) {
        throw failure("a BPF program cannot decide --where, column {}: {}", part.column, reason);
    }
    if (part.is == folded_test::form::leaf && !(is_in_fixed_part(part.leaf.left, fixed_size) &&
                                                (part.leaf.what != test_operation::integer_pair ||
                                                 is_in_fixed_part(part.leaf.right, fixed_size)))) {
        throw failure("--where asks for what is not where records have their fields");
    }
    for (const folded_test& child : part.children) {
        check_supported(child, fixed_size);
    }
}

class tests {
  public:
    tests(bpf_program& program, tracefs::location texts) : program_(program), texts_(texts) {}

    void add(const folded_test& part, jump_label on_true, jump_label on_false) {
        switch (part.is) {
            case folded_test::form::always:
                program_.jump(on_true);
                return;
            case folded_test::form::leaf:
                add_leaf(part.leaf, on_true, on_false);
                return;
            case folded_test::form::all_of:
            case folded_test::form::any_of:
                add_list(part, on_true, on_false);
                return;
            default:
                program_.jump(on_false);
                return;
        }
    }

  private:
    void add_list(const folded_test& list, jump_label on_true, jump_label on_false) {
        const bool all = list.is == folded_test::form::all_of;
        for (const folded_test& child : list.children) {
            const jump_label next = program_.make_label();
            add(child, all ? next : on_true, all ? on_false : next);
            program_.place(next);
        }
        program_.jump(all ? on_true : on_false);
    }

    /// What has no value is neither true nor false.
    void add_leaf(const test_instruction& test, jump_label on_true, jump_label on_false) {
        const jump_label yes = test.negated ? on_false : on_true;
        const jump_label no = test.negated ? on_true : on_false;
        if (test.what == test_operation::presence) {
            add_presence(program_, test.left, texts_, no);
            program_.jump(yes);
            return;
        }
        add_presence(program_, test.left, texts_, on_false);
        add_number(program_, reg::r8, test.left);
        if (test.what == test_operation::integer) {
            add_range(test, yes, no);
            return;
        }
        add_presence(program_, test.right, texts_, on_false);
        add_number(program_, reg::r9, test.right);
        add_pair(test, yes, no);
    }

    void add_range(const test_instruction& test, jump_label yes, jump_label no) {
        if (test.mask != all_bits) {
            program_.set(reg::r1, test.mask);
            program_.operate(bpf_operation::bits_and, reg::r8, reg::r1);
        }
        if (test.low != 0) {
            program_.set(reg::r1, test.low);
            program_.operate(bpf_operation::subtract, reg::r8, reg::r1);
        }
        program_.set(reg::r1, test.span);
        program_.jump_if(bpf_comparison::greater, reg::r8, reg::r1, no);
        program_.jump(yes);
    }

    /// As numbers, whatever their signs are.
    void add_pair(const test_instruction& test, jump_label yes, jump_label no) {
        const bool is_ordered = test.how != comparison::equal && test.how != comparison::unequal;
        const bool if_less = test.how == comparison::less || test.how == comparison::less_equal ||
                             test.how == comparison::unequal;
        const bool if_greater = test.how == comparison::greater ||
                                test.how == comparison::greater_equal ||
                                test.how == comparison::unequal;
        if (test.left.is_signed && !test.right.is_signed) {
            program_.jump_if(bpf_comparison::less_signed, reg::r8, 0, if_less ? yes : no);
        }
        if (!test.left.is_signed && test.right.is_signed) {
            program_.jump_if(bpf_comparison::less_signed, reg::r9, 0, if_greater ? yes : no);
        }
        const bool is_signed = is_ordered && test.left.is_signed && test.right.is_signed;
        program_.jump_if(comparison_of(test.how, is_signed), reg::r8, reg::r9, yes);
        program_.jump(no);
    }

    static bpf_comparison comparison_of(comparison how, bool is_signed) {
        switch (how) {
            case comparison::unequal:
                return bpf_comparison::unequal;
            case comparison::less:
                return is_signed ? bpf_comparison::less_signed : bpf_comparison::less;
            case comparison::less_equal:
                return is_signed ? bpf_comparison::less_equal_signed : bpf_comparison::less_equal;
            case comparison::greater:
                return is_signed ? bpf_comparison::greater_signed : bpf_comparison::greater;
            case comparison::greater_equal:
                return is_signed ? bpf_comparison::greater_equal_signed
                                 : bpf_comparison::greater_equal;
            default:
                return bpf_comparison::equal;
        }
    }

    bpf_program& program_;
    tracefs::location texts_;
};

}  // namespace

void check_bpf_tests(const folded_predicate& wanted, std::uint32_t fixed_size) {
    if (wanted.whole.is == folded_test::form::never) {
        throw failure("--where is false for all of them");
    }
    if (wanted.whole.size > tests_max) {
        throw failure("--where is too long for a BPF program");
    }
    check_supported(wanted.whole, fixed_size);
}

void add_bpf_test(bpf_program& program, const folded_predicate& wanted, tracefs::location texts,
                  jump_label on_true, jump_label on_false) {
    tests(program, texts).add(wanted.whole, on_true, on_false);
}

}  // namespace elog
