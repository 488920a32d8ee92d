// SPDX-License-Identifier: MIT
#include "pushdown/bpf_predicate.hpp"

#include <string_view>

#include "base/user_error.hpp"
#include "pushdown/bpf_field_access.hpp"

namespace elog {
namespace {

namespace tracefs = eventlog::tracefs;
using tracefs::bpf_comparison;
using tracefs::bpf_operation;
using tracefs::bpf_program;
using jump_label = bpf_program::label;
using reg = tracefs::bpf_register;

constexpr std::uint64_t all_bits = ~std::uint64_t{0};
// A test needs about ten instructions; the bound keeps the program well within the verifier's
// limit.
constexpr std::size_t tests_max = 200;

const char* unsupported_reason(const folded_node& part) {
    const predicate_instruction& test = part.leaf;
    if (part.is == folded_node::form::process_dependent) {
        return "whose process an event is, is found out here";
    }
    if (part.is != folded_node::form::leaf) {
        return nullptr;
    }
    const bool is_timed =
        test.left.source == field_source::clock || test.right.source == field_source::clock;
    if (test.left.source == field_source::sequence || test.right.source == field_source::sequence) {
        return "BPF programs do not read sequences";
    }
    if (test.left_factor != 1 || test.right_factor != 1) {
        return "BPF programs do not convert units";
    }
    switch (test.what) {
        case predicate_opcode::integer:
        case predicate_opcode::integer_pair:
            return is_timed ? "BPF programs do not ask for times" : nullptr;
        case predicate_opcode::presence:
            return nullptr;
        default:
            return "BPF programs compare integers and bools, and nothing else";
    }
}

void check_supported(const folded_node& part, std::uint32_t fixed_size) {
    if (const char* const reason = unsupported_reason(part)) {
        throw user_error("a BPF program cannot decide --where, column {}: {}", part.column, reason);
    }
    if (part.is == folded_node::form::leaf &&
        !(is_in_fixed_payload(part.leaf.left, fixed_size) &&
          (part.leaf.what != predicate_opcode::integer_pair ||
           is_in_fixed_payload(part.leaf.right, fixed_size)))) {
        throw user_error("--where asks for what is not where records have their fields");
    }
    for (const folded_node& child : part.children) {
        check_supported(child, fixed_size);
    }
}

class predicate_emitter {
  public:
    predicate_emitter(bpf_program& program, tracefs::location text_base)
        : program_(program), text_base_(text_base) {}

    void add(const folded_node& part, jump_label on_true, jump_label on_false) {
        switch (part.is) {
            case folded_node::form::always:
                program_.jump(on_true);
                return;
            case folded_node::form::leaf:
                add_leaf(part.leaf, on_true, on_false);
                return;
            case folded_node::form::all_of:
            case folded_node::form::any_of:
                add_list(part, on_true, on_false);
                return;
            default:
                program_.jump(on_false);
                return;
        }
    }

  private:
    void add_list(const folded_node& list, jump_label on_true, jump_label on_false) {
        const bool all = list.is == folded_node::form::all_of;
        for (const folded_node& child : list.children) {
            const jump_label next = program_.make_label();
            add(child, all ? next : on_true, all ? on_false : next);
            program_.place(next);
        }
        program_.jump(all ? on_true : on_false);
    }

    /// A test of a missing value is false whether it is negated or not.
    void add_leaf(const predicate_instruction& test, jump_label on_true, jump_label on_false) {
        const jump_label yes = test.negated ? on_false : on_true;
        const jump_label no = test.negated ? on_true : on_false;
        if (test.what == predicate_opcode::presence) {
            emit_presence_check(program_, test.left, text_base_, no);
            program_.jump(yes);
            return;
        }
        emit_presence_check(program_, test.left, text_base_, on_false);
        emit_load_number(program_, reg::r8, test.left);
        if (test.what == predicate_opcode::integer) {
            add_range(test, yes, no);
            return;
        }
        emit_presence_check(program_, test.right, text_base_, on_false);
        emit_load_number(program_, reg::r9, test.right);
        add_pair(test, yes, no);
    }

    void add_range(const predicate_instruction& test, jump_label yes, jump_label no) {
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

    /// Compares the numbers by value, whatever their signedness.
    void add_pair(const predicate_instruction& test, jump_label yes, jump_label no) {
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
    tracefs::location text_base_;
};

}  // namespace

void check_bpf_predicate(const folded_predicate& wanted, std::uint32_t fixed_size) {
    if (wanted.whole.is == folded_node::form::never) {
        throw user_error("--where is false for all of them");
    }
    if (wanted.whole.size > tests_max) {
        throw user_error("--where is too long for a BPF program");
    }
    check_supported(wanted.whole, fixed_size);
}

void emit_bpf_predicate(bpf_program& program, const folded_predicate& wanted,
                        tracefs::location text_base, jump_label on_true, jump_label on_false) {
    predicate_emitter(program, text_base).add(wanted.whole, on_true, on_false);
}

}  // namespace elog
