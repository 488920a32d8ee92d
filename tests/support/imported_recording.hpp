// SPDX-License-Identifier: MIT
//
// What a recording of another recorder's holds when elog reads it, of events as in traced_sample.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "file/file_format.hpp"
#include "import/input_recording.hpp"

namespace eventlog::test {

/// A record as it is shown, and what is missing in front of it.
struct imported_record {
    std::uint64_t number = 0;
    std::string word;
    std::string process;
    std::uint32_t pid = 0;
    std::uint32_t thread = 0;
    std::uint16_t cpu = 0;
    std::int64_t time = 0;  // CLOCK_REALTIME
    std::uint64_t lost = 0;
};

struct imported_recording {
    std::vector<imported_record> records;
    std::vector<elog::loss_block> losses;
    std::vector<std::string> damages;
    std::vector<std::string> notes;
    elog::recorded_clock clock;

    [[nodiscard]] std::vector<std::uint64_t> numbers() const;
};

/// Throws elog::failure if nothing of it can be read.
[[nodiscard]] imported_recording import_recording(const std::string& path);

/// The same of these bytes; or why they are refused.
[[nodiscard]] imported_recording import_bytes(const std::vector<std::uint8_t>& file);
[[nodiscard]] std::string rejection_of(const std::vector<std::uint8_t>& file);

/// Reads it, whatever it is: false if it is refused.
[[nodiscard]] bool is_readable(const std::vector<std::uint8_t>& file);

}  // namespace eventlog::test
