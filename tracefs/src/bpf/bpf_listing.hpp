// SPDX-License-Identifier: MIT
//
// The text of a BPF program's instructions, in the notation of the kernel's verifier.
#pragma once

#include <linux/bpf.h>

#include <span>
#include <string>

namespace eventlog::tracefs {

/// A line for each instruction: its number, its code, and what it does. Maps are named by their
/// position in `maps`, which is the file descriptor in the program. An instruction that bpf_program
/// does not generate is shown with its code alone.
[[nodiscard]] std::string list_instructions(std::span<const bpf_insn> program,
                                            std::span<const char* const> maps);

}  // namespace eventlog::tracefs
