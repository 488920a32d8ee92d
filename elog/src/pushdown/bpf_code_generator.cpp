// SPDX-License-Identifier: MIT
//
// Registers: r6 the event, r7 the value of its key, r8 and r9 operands.
#include "pushdown/bpf_code_generator.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "pushdown/bpf_field_access.hpp"
#include "pushdown/bpf_predicate.hpp"

namespace elog {
namespace {

namespace tracefs = eventlog::tracefs;
using tracefs::bpf_comparison;
using tracefs::bpf_operation;
using tracefs::bpf_program;
using reg = tracefs::bpf_register;

constexpr std::int32_t code_word_size = sizeof(std::uint64_t);
constexpr std::int32_t no_space_error = -E2BIG;

class bpf_code_generator {
  public:
    bpf_code_generator(const bpf_plan& plan, const tracefs::bpf_maps& maps)
        : plan_(plan), maps_(maps) {}

    std::vector<bpf_insn> make() {
        program_.copy(reg::r6, reg::r1);
        if (plan_.wanted) {
            const bpf_program::label wanted = program_.make_label();
            emit_bpf_predicate(program_, *plan_.wanted, plan_.text_base, wanted, out_);
            program_.place(wanted);
        }
        check_input();
        make_key();
        find_value();
        for (const bpf_call& call : plan_.calls) {
            if (call.taken) {
                add_call(call);
            }
        }
        add_to_word(0);
        program_.place(out_);
        // 0 would keep the event from other programs and from perf buffers.
        program_.set(reg::r0, 1);
        program_.exit();
        return program_.finish();
    }

  private:
    [[nodiscard]] static std::int32_t at_word(std::uint32_t word) {
        return static_cast<std::int32_t>(word) * code_word_size;
    }
    [[nodiscard]] std::int32_t key_begin() const {
        return -static_cast<std::int32_t>(plan_.key_size);
    }

    void add_to_word(std::uint32_t word) {
        program_.load(reg::r1, reg::r7, at_word(word), code_word_size);
        program_.operate(bpf_operation::add, reg::r1, 1);
        program_.store(reg::r7, at_word(word), reg::r1, code_word_size);
    }

    /// A record without input for any call is not counted.
    void check_input() {
        const bpf_program::label has_input = program_.make_label();
        for (const bpf_call& call : plan_.calls) {
            if (call.taken && !call.has_own_count) {
                return;
            }
        }
        for (const bpf_call& call : plan_.calls) {
            if (call.taken) {
                const bpf_program::label next = program_.make_label();
                emit_presence_check(program_, call.location, plan_.text_base, next);
                program_.jump(has_input);
                program_.place(next);
            }
        }
        program_.jump(out_);
        program_.place(has_input);
    }

    void make_key() {
        for (std::int32_t at = key_begin(); at < 0; at += code_word_size) {
            program_.store_zero(reg::r10, at);
        }
        for (const bpf_key& key : plan_.keys) {
            const bpf_program::label absent = program_.make_label();
            std::int32_t at = key_begin() + static_cast<std::int32_t>(key.begin);
            if (key.has_state) {
                emit_presence_check(program_, key.location, plan_.text_base, absent);
                program_.set(reg::r1, 1);
                program_.store(reg::r10, at, reg::r1, code_word_size);
                at += code_word_size;
            }
            if (key.location.is == value_class::text) {
                emit_copy_text(program_, key.location, at, key.location.size + 1);
            } else if (key.location.is == value_class::address) {
                emit_copy_bytes(program_, key.location, at);
            } else {
                emit_load_number(program_, reg::r8, key.location);
                program_.store(reg::r10, at, reg::r8, code_word_size);
            }
            program_.place(absent);
        }
    }

    void set_key(int map) {
        program_.set_map(reg::r1, map);
        program_.copy(reg::r2, reg::r10);
        program_.operate(bpf_operation::add, reg::r2, key_begin());
    }

    /// If another CPU inserts the key at the same time, the update fails and the second lookup
    /// finds it.
    void find_value() {
        const bpf_program::label found = program_.make_label();
        set_key(maps_.table);
        program_.call(BPF_FUNC_map_lookup_elem);
        program_.jump_if(bpf_comparison::unequal, reg::r0, 0, found);
        set_key(maps_.table);
        program_.set_map_value(reg::r3, maps_.zeros);
        program_.set(reg::r4, BPF_NOEXIST);
        program_.call(BPF_FUNC_map_update_elem);
        program_.copy(reg::r8, reg::r0);
        set_key(maps_.table);
        program_.call(BPF_FUNC_map_lookup_elem);
        program_.jump_if(bpf_comparison::unequal, reg::r0, 0, found);
        count_loss();
        program_.jump(out_);
        program_.place(found);
        program_.copy(reg::r7, reg::r0);
    }

    void count_loss() {
        const bpf_program::label is_full = program_.make_label();
        program_.set_map_value(reg::r1, maps_.losses);
        program_.jump_if(bpf_comparison::equal, reg::r8, no_space_error, is_full);
        program_.operate(bpf_operation::add, reg::r1,
                         static_cast<std::int32_t>(offsetof(tracefs::bpf_losses, refused)));
        program_.place(is_full);
        program_.set(reg::r2, 1);
        program_.add_atomically(reg::r1, 0, reg::r2);
    }

    void add_call(const bpf_call& call) {
        const bpf_program::label absent = program_.make_label();
        if (call.has_own_count) {
            emit_presence_check(program_, call.location, plan_.text_base, absent);
        }
        if (call.what != aggregate_function::count) {
            emit_load_number(program_, reg::r8, call.location);
            take_number(call);
        }
        if (call.has_own_count) {
            add_to_word(call.begin);
        }
        program_.place(absent);
    }

    void take_number(const bpf_call& call) {
        switch (call.what) {
            case aggregate_function::sum:
            case aggregate_function::avg:
                add_up(call);
                return;
            case aggregate_function::min:
            case aggregate_function::max:
                keep_extreme(call);
                return;
            case aggregate_function::stddev:
                program_.copy(reg::r9, reg::r8);
                add_up(call);
                add_square(call);
                return;
            case aggregate_function::quantize:
                find_quantized(call);
                count_bucket(call);
                return;
            default:
                find_linear(call);
                count_bucket(call);
                return;
        }
    }

    /// Adds r8 to a 128-bit sum.
    void add_up(const bpf_call& call) {
        const std::int32_t low = at_word(call.numbers());
        const std::int32_t high = at_word(call.numbers() + 1);
        program_.load(reg::r1, reg::r7, low, code_word_size);
        program_.load(reg::r2, reg::r7, high, code_word_size);
        program_.operate(bpf_operation::add, reg::r1, reg::r8);
        program_.store(reg::r7, low, reg::r1, code_word_size);
        carry_if_less(reg::r1, reg::r8, reg::r2);
        if (call.location.is_signed) {
            program_.operate(bpf_operation::shift_right_signed, reg::r8, 63);
            program_.operate(bpf_operation::add, reg::r2, reg::r8);
        }
        program_.store(reg::r7, high, reg::r2, code_word_size);
    }

    /// Computes the square of r9 in r8 and r2 from its halves, and adds it to a 192-bit sum.
    void add_square(const bpf_call& call) {
        const bpf_program::label is_positive = program_.make_label();
        program_.copy(reg::r8, reg::r9);
        if (call.location.is_signed) {
            program_.jump_if(bpf_comparison::greater_equal_signed, reg::r8, 0, is_positive);
            program_.negate(reg::r8);
        }
        program_.place(is_positive);
        program_.copy(reg::r1, reg::r8);
        program_.operate(bpf_operation::shift_left, reg::r1, 32);
        program_.operate(bpf_operation::shift_right, reg::r1, 32);
        program_.operate(bpf_operation::shift_right, reg::r8, 32);
        program_.copy(reg::r2, reg::r1);
        program_.operate(bpf_operation::multiply, reg::r2, reg::r2);
        program_.operate(bpf_operation::multiply, reg::r1, reg::r8);
        program_.operate(bpf_operation::multiply, reg::r8, reg::r8);
        // Twice the product of the halves, shifted by half a word.
        program_.copy(reg::r3, reg::r1);
        program_.operate(bpf_operation::shift_left, reg::r3, 33);
        program_.operate(bpf_operation::shift_right, reg::r1, 31);
        program_.operate(bpf_operation::add, reg::r8, reg::r1);
        program_.operate(bpf_operation::add, reg::r2, reg::r3);
        carry_if_less(reg::r2, reg::r3, reg::r8);
        const std::uint32_t low = call.numbers() + 2;
        program_.load(reg::r1, reg::r7, at_word(low), code_word_size);
        program_.operate(bpf_operation::add, reg::r1, reg::r2);
        program_.store(reg::r7, at_word(low), reg::r1, code_word_size);
        carry_if_less(reg::r1, reg::r2, reg::r8);
        program_.load(reg::r1, reg::r7, at_word(low + 1), code_word_size);
        program_.load(reg::r2, reg::r7, at_word(low + 2), code_word_size);
        program_.operate(bpf_operation::add, reg::r1, reg::r8);
        program_.store(reg::r7, at_word(low + 1), reg::r1, code_word_size);
        carry_if_less(reg::r1, reg::r8, reg::r2);
        program_.store(reg::r7, at_word(low + 2), reg::r2, code_word_size);
    }

    /// A sum smaller than the summand has overflowed.
    void carry_if_less(reg sum, reg summand, reg next) {
        const bpf_program::label is_all = program_.make_label();
        program_.jump_if(bpf_comparison::greater_equal, sum, summand, is_all);
        program_.operate(bpf_operation::add, next, 1);
        program_.place(is_all);
    }

    void keep_extreme(const bpf_call& call) {
        const std::int32_t location = at_word(call.numbers());
        const std::uint32_t count = call.has_own_count ? call.begin : 0;
        const bpf_program::label is_new = program_.make_label();
        const bpf_program::label is_kept = program_.make_label();
        program_.load(reg::r1, reg::r7, at_word(count), code_word_size);
        program_.jump_if(bpf_comparison::equal, reg::r1, 0, is_new);
        program_.load(reg::r1, reg::r7, location, code_word_size);
        const bool is_smallest = call.what == aggregate_function::min;
        const bpf_comparison stays =
            call.location.is_signed
                ? (is_smallest ? bpf_comparison::less_equal_signed
                               : bpf_comparison::greater_equal_signed)
                : (is_smallest ? bpf_comparison::less_equal : bpf_comparison::greater_equal);
        program_.jump_if(stays, reg::r1, reg::r8, is_kept);
        program_.place(is_new);
        program_.store(reg::r7, location, reg::r8, code_word_size);
        program_.place(is_kept);
    }

    /// The number of significant bits of r8, into r2, by bisection.
    void count_bits() {
        program_.set(reg::r2, 0);
        for (const std::int32_t half : {32, 16, 8, 4, 2, 1}) {
            const bpf_program::label is_less = program_.make_label();
            program_.set(reg::r1, std::uint64_t{1} << static_cast<unsigned>(half));
            program_.jump_if(bpf_comparison::less, reg::r8, reg::r1, is_less);
            program_.operate(bpf_operation::shift_right, reg::r8, half);
            program_.operate(bpf_operation::add, reg::r2, half);
            program_.place(is_less);
        }
        program_.operate(bpf_operation::add, reg::r2, reg::r8);
    }

    void find_quantized(const bpf_call& call) {
        const bpf_program::label is_found = program_.make_label();
        if (call.location.is_signed) {
            const bpf_program::label is_positive = program_.make_label();
            program_.jump_if(bpf_comparison::greater_equal_signed, reg::r8, 0, is_positive);
            program_.negate(reg::r8);
            count_bits();
            program_.negate(reg::r2);
            program_.jump(is_found);
            program_.place(is_positive);
        }
        count_bits();
        program_.place(is_found);
        program_.operate(bpf_operation::subtract, reg::r2, static_cast<std::int32_t>(call.first));
    }

    void find_linear(const bpf_call& call) {
        program_.set(reg::r1, static_cast<std::uint64_t>(call.first) * call.step);
        program_.copy(reg::r2, reg::r8);
        program_.operate(bpf_operation::subtract, reg::r2, reg::r1);
        if (call.step != 1) {
            program_.set(reg::r1, call.step);
            program_.operate(bpf_operation::divide, reg::r2, reg::r1);
        }
    }

    /// Increments the bucket with the index in r2. The verifier needs the comparison with the
    /// number of buckets.
    void count_bucket(const bpf_call& call) {
        program_.jump_if(bpf_comparison::greater_equal, reg::r2,
                         static_cast<std::int32_t>(call.buckets), out_);
        program_.operate(bpf_operation::shift_left, reg::r2, 3);
        program_.operate(bpf_operation::add, reg::r2, reg::r7);
        const std::int32_t begin = at_word(call.numbers());
        program_.load(reg::r1, reg::r2, begin, code_word_size);
        program_.operate(bpf_operation::add, reg::r1, 1);
        program_.store(reg::r2, begin, reg::r1, code_word_size);
    }

    const bpf_plan& plan_;
    const tracefs::bpf_maps& maps_;
    bpf_program program_;
    bpf_program::label out_ = program_.make_label();
};

}  // namespace

std::vector<bpf_insn> generate_bpf_code(const bpf_plan& plan, const tracefs::bpf_maps& maps) {
    return bpf_code_generator(plan, maps).make();
}

}  // namespace elog
