// SPDX-License-Identifier: MIT
//
// What this machine offers to events, on their way and to who reads them: what elog features lists.
// Finding it out changes nothing.
#pragma once

#include <string>
#include <vector>

namespace elog {

enum class availability { yes, limited, no };

struct feature {
    const char* name;
    availability state;
    std::string value;   // or the reason, some words
    std::string remedy;  // a sentence; empty if there is nothing to be done
};

/// rseq, membarrier, futex, clock, cpus, directory, memory: what recording takes.
void find_memory_features(std::vector<feature>& features);

/// tracefs, user_events, multi_format, persist, module, perf, bpf.
void find_kernel_features(std::vector<feature>& features);

/// zstd, terminal, utf8.
void find_output_features(std::vector<feature>& features);

}  // namespace elog
