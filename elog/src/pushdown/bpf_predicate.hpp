// SPDX-License-Identifier: MIT
//
// A predicate for one event (compiled_predicate.hpp), asked by the kernel's BPF machine. r6 has the
// event; all others but r7 are lost.
#pragma once

#include <cstdint>

#include "bpf/bpf_program.hpp"
#include "format/event_format.hpp"
#include "predicate/compiled_predicate.hpp"

namespace elog {

/// Throws failure, with why, as a sentence without its end, if it cannot be asked.
void check_bpf_predicate(const folded_predicate& wanted, std::uint32_t fixed_size);

/// Goes on at one of both places. It has been checked. `texts` as for emit_presence_check().
void emit_bpf_predicate(eventlog::tracefs::bpf_program& program, const folded_predicate& wanted,
                        eventlog::tracefs::location text_base,
                        eventlog::tracefs::bpf_program::label on_true,
                        eventlog::tracefs::bpf_program::label on_false);

}  // namespace elog
