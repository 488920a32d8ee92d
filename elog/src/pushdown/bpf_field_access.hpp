// SPDX-License-Identifier: MIT
//
// BPF instructions that read a field of an event. r6 holds the event; r1 to r5 are overwritten.
#pragma once

#include <cstdint>

#include "bpf/bpf_program.hpp"
#include "format/event_format.hpp"
#include "predicate/value_location.hpp"

namespace elog {

/// Whether the location is in the fixed part of the payload, or not in the payload at all.
[[nodiscard]] bool is_in_fixed_payload(const stored_location& location,
                                       std::uint32_t fixed_size) noexcept;

/// Jumps to `absent` if the field has no value. A text that is a null pointer has a value;
/// `text_base` is the origin of the offsets of texts.
void emit_presence_check(eventlog::tracefs::bpf_program& program, const stored_location& location,
                         eventlog::tracefs::location text_base,
                         eventlog::tracefs::bpf_program::label absent);

/// Loads an integer, bool or char that is present, the thread or the CPU into a register above r5,
/// sign-extended.
void emit_load_number(eventlog::tracefs::bpf_program& program, eventlog::tracefs::bpf_register to,
                      const stored_location& location);

/// Copies an address to the stack, into words that are 0.
void emit_copy_bytes(eventlog::tracefs::bpf_program& program, const stored_location& location,
                     std::int32_t to);

/// Copies a present text up to its first NUL to the stack, at most `size` bytes with the NUL. r0
/// returns the number of bytes; the last one is always a NUL.
void emit_copy_text(eventlog::tracefs::bpf_program& program, const stored_location& location,
                    std::int32_t to, std::uint32_t size);

}  // namespace elog
