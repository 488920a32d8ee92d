// SPDX-License-Identifier: MIT
//
// Compares everything in an .elog file with the specification in elog(5) and with itself (`elog
// verify`).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "file/file_format.hpp"

namespace elog {

struct file_check_result {
    std::uint64_t size = 0;
    std::uint64_t blocks = 0;
    std::uint64_t records = 0;
    std::uint64_t record_bytes = 0;  // as elog stat counts them
    std::uint64_t lost = 0;          // including overwritten ones, as in end_block
    std::uint64_t overwritten = 0;   // newer records replaced them in the buffers
    std::uint64_t providers = 0;
    std::uint64_t unknown_blocks = 0;  // of a newer version, skipped
    bool has_end = false;
    end_reason reason = end_reason::regular;  // if there is an end
    bool has_index = false;
    bool has_segment = false;
    bool is_being_written = false;
    std::vector<std::string> damages;  // messages with offsets
};

/// Reads the whole file. Throws user_error if it cannot be opened, is no .elog file, or requires
/// features that this version does not have.
[[nodiscard]] file_check_result check_file(const std::string& path);

}  // namespace elog
