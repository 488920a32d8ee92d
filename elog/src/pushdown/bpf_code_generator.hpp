// SPDX-License-Identifier: MIT
//
// Generates the BPF program of a bpf_plan. The program reads an event in the kernel's layout:
// common fields, then the fields as in the payload.
#pragma once

#include <linux/bpf.h>

#include <vector>

#include "bpf/bpf_counter.hpp"
#include "pushdown/bpf_plan.hpp"

namespace elog {

/// Throws eventlog::tracefs::error if the program is too long.
[[nodiscard]] std::vector<bpf_insn> generate_bpf_code(const bpf_plan& plan,
                                                      const eventlog::tracefs::bpf_maps& maps);

}  // namespace elog
