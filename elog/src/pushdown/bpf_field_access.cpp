// SPDX-License-Identifier: MIT
#include "pushdown/bpf_field_access.hpp"

#include <cstddef>

namespace elog {
namespace {

namespace tracefs = eventlog::tracefs;
using eventlog::field_type;
using tracefs::bpf_comparison;
using tracefs::bpf_operation;
using tracefs::bpf_program;
using reg = tracefs::bpf_register;

constexpr std::size_t field_word_size = sizeof(std::uint64_t);

std::int32_t offset_of(std::uint32_t in_payload) noexcept {
    return static_cast<std::int32_t>(tracefs::common_size + in_payload);
}

/// The kernel accepts only aligned accesses to an event.
void load_field_bits(bpf_program& program, reg to, std::int32_t offset, std::size_t size) {
    if (static_cast<std::size_t>(offset) % size == 0) {
        program.load(to, reg::r6, offset, size);
        return;
    }
    program.load(to, reg::r6, offset, 1);
    for (std::size_t i = 1; i < size; ++i) {
        program.load(reg::r1, reg::r6, offset + static_cast<std::int32_t>(i), 1);
        program.operate(bpf_operation::shift_left, reg::r1, static_cast<std::int32_t>(i * 8));
        program.operate(bpf_operation::bits_or, to, reg::r1);
    }
}

}  // namespace

bool is_in_fixed_payload(const stored_location& location, std::uint32_t fixed_size) noexcept {
    return location.source != field_source::payload ||
           (std::uint64_t{location.offset} + location.size <= fixed_size &&
            (location.presence == schema_format::no_index || location.presence < fixed_size));
}

void emit_presence_check(bpf_program& program, const stored_location& location,
                         tracefs::location text_base, bpf_program::label absent) {
    if (location.source != field_source::payload) {
        return;
    }
    if (location.presence != schema_format::no_index) {
        program.load(reg::r1, reg::r6, offset_of(location.presence), 1);
        program.jump_if(bpf_comparison::equal, reg::r1, 0, absent);
    }
    if (location.type == field_type::text) {
        load_field_bits(program, reg::r2, offset_of(location.offset), sizeof(std::uint32_t));
        program.jump_if(bpf_comparison::equal, reg::r2, 0, absent);
        if (text_base == tracefs::location::data_loc) {
            const std::uint32_t word =
                tracefs::null_string_word(tracefs::common_size + location.offset);
            program.jump_if(bpf_comparison::equal, reg::r2, static_cast<std::int32_t>(word),
                            absent);
        }
    }
}

void emit_load_number(bpf_program& program, reg to, const stored_location& location) {
    if (location.source == field_source::thread) {
        program.call(BPF_FUNC_get_current_pid_tgid);
        program.copy(to, reg::r0);
        program.operate(bpf_operation::shift_left, to, 32);
        program.operate(bpf_operation::shift_right, to, 32);
        return;
    }
    if (location.source == field_source::cpu) {
        program.call(BPF_FUNC_get_smp_processor_id);
        program.copy(to, reg::r0);
        return;
    }
    load_field_bits(program, to, offset_of(location.offset), location.size);
    if (location.type == field_type::boolean) {
        const bpf_program::label is_false = program.make_label();
        program.jump_if(bpf_comparison::equal, to, 0, is_false);
        program.set(to, 1);
        program.place(is_false);
    } else if (location.is_signed && location.size < field_word_size) {
        const auto above = static_cast<std::int32_t>((field_word_size - location.size) * 8);
        program.operate(bpf_operation::shift_left, to, above);
        program.operate(bpf_operation::shift_right_signed, to, above);
    }
}

void emit_copy_bytes(bpf_program& program, const stored_location& location, std::int32_t to) {
    for (std::uint32_t i = 0; i < location.size; ++i) {
        program.load(reg::r1, reg::r6, offset_of(location.offset + i), 1);
        program.store(reg::r10, to + static_cast<std::int32_t>(i), reg::r1, 1);
    }
}

void emit_copy_text(bpf_program& program, const stored_location& location, std::int32_t to,
                    std::uint32_t size) {
    program.copy(reg::r1, reg::r10);
    program.operate(bpf_operation::add, reg::r1, to);
    program.set(reg::r2, size);
    program.copy(reg::r3, reg::r6);
    program.operate(bpf_operation::add, reg::r3, offset_of(location.offset));
    program.call(BPF_FUNC_probe_read_kernel_str);
}

}  // namespace elog
