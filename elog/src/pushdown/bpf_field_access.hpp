// SPDX-License-Identifier: MIT
//
// Taking what a place stands for out of an event, in the kernel's BPF machine. r6 has the event; r1
// to r5 are lost.
#pragma once

#include <cstdint>

#include "bpf/bpf_program.hpp"
#include "format/event_format.hpp"
#include "predicate/value_location.hpp"

namespace elog {

/// Whether the place is in the part of the payload that each record has, or is none of the payload.
[[nodiscard]] bool is_in_fixed_payload(const stored_location& place,
                                       std::uint32_t fixed_size) noexcept;

/// Goes on if it has a value, also of a text that may be a null pointer; `texts` is where words
/// of the event point from.
void emit_presence_check(eventlog::tracefs::bpf_program& program, const stored_location& place,
                         eventlog::tracefs::location text_base,
                         eventlog::tracefs::bpf_program::label absent);

/// Of an integer, bool or char that is there, of the thread or the CPU: its bits, sign-extended,
/// into a register above r5.
void emit_load_number(eventlog::tracefs::bpf_program& program, eventlog::tracefs::bpf_register to,
                      const stored_location& place);

/// Of an address: its bytes, to that place on the stack, in words that were 0.
void emit_copy_bytes(eventlog::tracefs::bpf_program& program, const stored_location& place,
                     std::int32_t to);

/// Of a text that is there: up to its first NUL, to that place on the stack, no more than so many
/// bytes. r0 has how many there are, the NUL included; the last is always one.
void emit_copy_text(eventlog::tracefs::bpf_program& program, const stored_location& place,
                    std::int32_t to, std::uint32_t size);

}  // namespace elog
