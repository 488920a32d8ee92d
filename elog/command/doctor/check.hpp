// SPDX-License-Identifier: MIT
//
// The checks of this machine for this user, which elog doctor shows.
//
// A check examines one fact, changes nothing, and returns a row for each view.
#pragma once

#include <string>
#include <utility>

#include "doctor/machine.hpp"

namespace elog::doctor {

enum class check_state {
    good,
    limited,  // as a requirement: recording works all the same
    missing,
};
using enum check_state;

struct finding {
    check_state state = good;
    std::string text{};    // a sentence, or for a feature some words; empty: there is no row
    std::string repair{};  // a command, or for a feature a sentence; empty if there is none
    bool as_root = false;  // the command needs root
    const char* name = "";
};

struct check_result {
    check_result() = default;
    /// The row of the only view that has the check.
    check_result(check_state state, std::string text, std::string repair = {}, bool as_root = false)
        : requirement{state, std::move(text), std::move(repair), as_root}, feature(requirement) {}
    check_result(finding as_requirement, finding as_feature)
        : requirement(std::move(as_requirement)), feature(std::move(as_feature)) {}

    finding requirement;  // for elog doctor
    finding feature;      // for elog doctor --all
};

// Shared by producers and elog.
check_result check_directory(const machine_facts& machine);
check_result check_common_directory(const machine_facts& machine);  // if it exists and is not used
check_result check_memory(const machine_facts& machine);
check_result check_detached(const machine_facts& machine);          // if there are flight recorders
check_result check_hidden_processes(const machine_facts& machine);  // if there are any
check_result check_unpublished_processes(const machine_facts& machine);  // if there are any
check_result check_unattached_processes(const machine_facts& machine);   // if there are any

// Used by an emit.
check_result check_rseq(const machine_facts& machine);
check_result check_membarrier(const machine_facts& machine);
check_result check_futex(const machine_facts& machine);
check_result check_clock(const machine_facts& machine);
check_result check_cpus(const machine_facts& machine);

// The kernel's user_events, and the permission to use them.
check_result check_user_events(const machine_facts& machine);
check_result check_multi_format(const machine_facts& machine);
check_result check_persistence(const machine_facts& machine);
check_result check_tracefs(const machine_facts& machine);
check_result check_data_file(const machine_facts& machine);
check_result check_group(const machine_facts& machine);
check_result check_boot(const machine_facts& machine);
check_result check_event_limit(const machine_facts& machine);

// Other routes through the kernel.
check_result check_module(const machine_facts& machine);
check_result check_perf(const machine_facts& machine);
check_result check_bpf(const machine_facts& machine);

// What the kernel does with events before they reach a reader.
check_result check_histograms(const machine_facts& machine);
check_result check_types(const machine_facts& machine);
check_result check_probes(const machine_facts& machine);
check_result check_relay(const machine_facts& machine);

// Programs and output.
check_result check_perf_program(const machine_facts& machine);
check_result check_trace_cmd(const machine_facts& machine);
check_result check_compression(const machine_facts& machine);
check_result check_terminal(const machine_facts& machine);
check_result check_character_encoding(const machine_facts& machine);

}  // namespace elog::doctor
