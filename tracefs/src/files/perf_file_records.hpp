// SPDX-License-Identifier: MIT
//
// Iterates over the records of perf.data, decompressed if necessary.
#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "files/perf_file.hpp"
#include "files/zstd_stream.hpp"

namespace eventlog::tracefs {

/// Record types that perf itself writes.
enum perf_tool_record : std::uint32_t {
    perf_finished_round = 68,
    perf_id_index = 69,
    perf_auxtrace = 71,
    perf_compressed = 81,
    perf_compressed_2 = 83,
};

struct perf_file_record {
    std::uint32_t type = 0;  // of enum perf_event_type or perf_tool_record
    std::uint16_t misc = 0;
    std::span<const std::uint8_t> body{};  // without the header; valid until the next call
};

class perf_file_records {
  public:
    /// Both must outlive it.
    perf_file_records(const recorded_file& file, const perf_file& about);

    /// The next record; nothing behind the last one. Throws error if the rest of the file is
    /// invalid and skipped.
    [[nodiscard]] std::optional<perf_file_record> next();

    /// Position in the file up to which it has been read.
    [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }

  private:
    [[nodiscard]] std::optional<perf_file_record> next_in_file();
    [[nodiscard]] std::optional<perf_file_record> next_compressed();
    [[nodiscard]] std::span<const std::uint8_t> window(std::uint64_t size);
    void decompress(const perf_file_record& record);
    void stop_reading() noexcept;

    const recorded_file& file_;
    std::uint32_t content_max_;
    std::uint64_t offset_;
    std::uint64_t end_;
    std::vector<std::uint8_t> window_;
    std::uint64_t window_offset_ = 0;
    std::optional<zstd_stream> stream_;
    std::vector<std::uint8_t> content_;  // decompressed data
    std::size_t content_at_ = 0;
};

}  // namespace eventlog::tracefs
