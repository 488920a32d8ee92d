// SPDX-License-Identifier: MIT
//
// Joins small runs of a ring into larger ones: a file of many small blocks is large and slow, and
// small blocks do not compress.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "record/records.hpp"

namespace elog {

class run_coalescer {
  public:
    using clock = std::chrono::steady_clock;
    using write_run = std::function<void(const record_run&)>;

    explicit run_coalescer(std::uint32_t ring_count);

    /// Keeps the run, or writes it behind the kept runs of its ring. A written run is at most
    /// size_max() bytes, or one larger record.
    void add(const record_run& run, clock::time_point now, const write_run& write);
    /// Writes the runs that have been kept since `kept_since` or longer.
    void flush(clock::time_point kept_since, const write_run& write);

    /// The memory that a reader needs for each ring when it merges the rings.
    [[nodiscard]] std::size_t size_max() const noexcept { return size_max_; }

  private:
    struct batch {
        record_run run;  // without bytes
        std::vector<std::uint8_t> bytes;
        clock::time_point since;
    };

    void flush_ring(batch& kept, const write_run& write);
    void write_split(record_run run, const write_run& write) const;

    std::vector<batch> batches_;  // by ring
    std::size_t size_max_;
};

}  // namespace elog
