// SPDX-License-Identifier: MIT
//
// What eventlog finds on this machine, for this user: what elog doctor says. Each function looks at
// one area and changes nothing.
#pragma once

#include <string>
#include <vector>

namespace elog {

enum class condition {
    good,
    note,     // events can be recorded all the same
    missing,  // something that this machine could have is in the way
};

struct finding {
    const char* item;
    condition state;
    std::string text;    // one sentence
    std::string repair;  // a command, or empty
    bool as_root = false;
};

/// Who asks: a name, or a number where there is none.
[[nodiscard]] std::string user_name();

/// user_events, tracefs, user_events_data, group, boot, user_events_max, perf_events.
void examine_kernel(std::vector<finding>& findings);

/// directory, common (if it is there and not used), memory, standing (if anything does), rseq: what
/// recording without the kernel takes.
void examine_memory(std::vector<finding>& findings);

/// The first of these: where programs and elog meet.
[[nodiscard]] finding examine_directory();

/// perf, trace-cmd.
void examine_tools(std::vector<finding>& findings);

}  // namespace elog
