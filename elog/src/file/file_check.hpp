// SPDX-License-Identifier: MIT
//
// Whether everything in an .elog file is as elog(5) says, and what is not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace elog {

struct file_check_result {
    std::uint64_t size = 0;
    std::uint64_t blocks = 0;
    std::uint64_t records = 0;
    std::uint64_t record_bytes = 0;  // decompressed
    std::uint64_t lost = 0;          // as the file's end counts them, with these:
    std::uint64_t overwritten = 0;   // newer ones took their place in the buffers
    std::uint64_t providers = 0;
    bool has_end = false;
    bool has_index = false;
    bool is_being_written = false;
    std::vector<std::string> damages;  // sentences, with offsets
};

/// Reads all of it. Throws failure if the file cannot be opened or is no .elog file at all.
[[nodiscard]] file_check_result check_file(const std::string& path);

}  // namespace elog
