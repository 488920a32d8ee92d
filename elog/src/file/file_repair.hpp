// SPDX-License-Identifier: MIT
//
// A sound .elog file from a damaged one: all that is whole, with a new index and end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace elog {

struct repair_summary {
    std::uint64_t records = 0;  // copied
    std::uint64_t missing = 0;  // records, as far as those around them tell
    std::uint64_t size = 0;     // of the new file
    bool had_end = false;
    std::vector<std::string> damages;  // what was left out, in sentences with offsets
};

/// Throws failure if `from` cannot be read at all or is still being written, if both are the same
/// file, or if `to` cannot be written.
[[nodiscard]] repair_summary repair_file(const std::string& from, const std::string& to);

}  // namespace elog
