// SPDX-License-Identifier: MIT
//
// Copies the whole blocks of a damaged .elog file into a new file with a new index and end (`elog
// repair`).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace elog {

struct repair_summary {
    std::uint64_t records = 0;  // copied
    std::uint64_t missing = 0;  // as far as the surrounding blocks show
    std::uint64_t size = 0;     // of the new file
    bool had_end = false;
    bool is_without_segment = false;   // rings and clock are deduced
    bool has_raw_times = false;        // no clock reading converts times
    std::vector<std::string> damages;  // what was left out: messages with offsets
};

/// Throws user_error if `from` cannot be read or is still being written, if both are the same file,
/// or if `to` cannot be written.
[[nodiscard]] repair_summary repair_file(const std::string& from, const std::string& to);

}  // namespace elog
