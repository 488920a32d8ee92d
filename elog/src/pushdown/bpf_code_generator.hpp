// SPDX-License-Identifier: MIT
//
// The program for a bpf_plan: for the kernel's BPF machine, which looks at an event as tracing has
// it, whose fields lie as in our payload behind the common ones.
#pragma once

#include <linux/bpf.h>

#include <vector>

#include "bpf/bpf_counter.hpp"
#include "pushdown/bpf_plan.hpp"

namespace elog {

/// Throws eventlog::tracefs::error if there is too much to do for one program.
[[nodiscard]] std::vector<bpf_insn> generate_bpf_code(const bpf_plan& plan,
                                                      const eventlog::tracefs::bpf_maps& maps);

}  // namespace elog
