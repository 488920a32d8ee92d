// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace bench {

struct options {
    std::string json;  // file for the ratios; empty: none
    std::string elog;  // path of the elog command; empty: search for it
    bool quick = false;
    bool help = false;
    std::vector<std::string> benchmark;  // options of Google Benchmark
};

/// Throws failure for an unknown option.
[[nodiscard]] options parse_options(int count, char** words);

void print_usage();

/// The path from the options, else the build's: next to this program or in the folder elog next to
/// this program's. Throws failure.
[[nodiscard]] std::string find_elog(const options& chosen);

}  // namespace bench
