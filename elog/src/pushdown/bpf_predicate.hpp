// SPDX-License-Identifier: MIT
//
// BPF instructions that evaluate a predicate for one event (compiled_predicate.hpp). r6 holds the
// event; all registers except r6 and r7 are overwritten.
#pragma once

#include <cstdint>

#include "bpf/bpf_program.hpp"
#include "format/event_format.hpp"
#include "predicate/compiled_predicate.hpp"

namespace elog {

/// Throws user_error with the reason, as a sentence without its end, if BPF cannot evaluate the
/// predicate.
void check_bpf_predicate(const folded_predicate& wanted, std::uint32_t fixed_size);

/// Jumps to one of the labels. The predicate must have passed check_bpf_predicate(). `text_base` as
/// for emit_presence_check().
void emit_bpf_predicate(eventlog::tracefs::bpf_program& program, const folded_predicate& wanted,
                        eventlog::tracefs::location text_base,
                        eventlog::tracefs::bpf_program::label on_true,
                        eventlog::tracefs::bpf_program::label on_false);

}  // namespace elog
