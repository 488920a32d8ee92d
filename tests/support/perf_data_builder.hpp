// SPDX-License-Identifier: MIT
//
// Builds perf.data files.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "kernel_trace_sample.hpp"

namespace eventlog::test {

struct perf_data_options {
    std::uint64_t sample_type = 0;              // 0: as perf record sets it
    std::optional<int> clock = 1;               // CLOCK_MONOTONIC; none: perf's own clock
    bool has_realtime_reference = true;         // clock 1000 s is 2'000'000'000 s
    std::vector<std::uint32_t> event_types{2};  // tracepoint
    std::uint32_t content_max = 65536;          // bytes of a compressed record
    int window_log = 0;                         // of compressed content; 0: zstd's default
};

class perf_data_builder {
  public:
    using bytes = std::vector<std::uint8_t>;

    explicit perf_data_builder(std::vector<system_format> formats, perf_data_options options = {});

    /// Adds a sample on the CPU, of the event with this index.
    void sample(std::uint32_t pid, std::uint32_t thread, std::uint64_t time, std::uint32_t cpu,
                std::span<const std::uint8_t> raw, std::uint64_t event = 0);
    void name(std::uint32_t pid, std::uint32_t thread, std::string_view name, std::uint64_t time,
              bool has_become);
    void fork(std::uint32_t parent, std::uint32_t pid, std::uint64_t time);
    void lost(std::uint64_t count, std::uint64_t time, std::uint32_t cpu);
    void lost_in_all(std::uint64_t count, std::uint32_t cpu);
    /// Adds the index that maps sample numbers to events.
    void index();
    void round();
    /// Adds a record of any type and content.
    void record(std::uint32_t type, std::uint16_t misc, std::span<const std::uint8_t> body);
    /// Compresses the following records, in pieces of this size.
    void compress(std::size_t piece);

    /// The complete file.
    [[nodiscard]] bytes file();

    static constexpr std::uint32_t cpus = 2;

  private:
    void add_stamp(byte_builder& to, std::uint32_t pid, std::uint64_t time, std::uint32_t cpu,
                   std::uint64_t id) const;
    void flush();
    [[nodiscard]] bytes features(std::uint64_t begin, std::uint64_t& bits) const;

    std::vector<system_format> formats_;
    perf_data_options options_;
    byte_builder data_;
    byte_builder uncompressed_;  // waits for compression
    std::size_t chunk_size_ = 0;
};

}  // namespace eventlog::test
