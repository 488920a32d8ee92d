// SPDX-License-Identifier: MIT
//
// The contents of a recording by perf or trace-cmd as elog reads it; the events are those of
// kernel_trace_sample.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "file/file_format.hpp"
#include "import/input_recording.hpp"

namespace eventlog::test {

/// A record as elog shows it, and the loss before it.
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
    std::vector<elog::loss_report> losses;
    std::vector<std::string> damages;
    std::vector<std::string> notes;
    elog::recorded_clock clock;

    [[nodiscard]] std::vector<std::uint64_t> numbers() const;
};

/// Throws elog::user_error if the file is unreadable.
[[nodiscard]] imported_recording import_recording(const std::string& path);

/// Imports these bytes, or returns the error text.
[[nodiscard]] imported_recording import_bytes(const std::vector<std::uint8_t>& file);
[[nodiscard]] std::string rejection_of(const std::vector<std::uint8_t>& file);

/// Reads the file to its end; false: elog rejects it.
[[nodiscard]] bool is_readable(const std::vector<std::uint8_t>& file);

}  // namespace eventlog::test
