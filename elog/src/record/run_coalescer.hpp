// SPDX-License-Identifier: MIT
//
// Runs of few records collected into larger ones, by ring: a file of many small blocks is large and
// slow, and small blocks do not compress.
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

    /// Keeps the run, or writes it, behind what is kept of its ring. No run that is written is
    /// larger than size_max() but for a record that is.
    void add(const record_run& run, clock::time_point now, const write_run& write);
    /// Writes what has been kept since then or longer.
    void flush(clock::time_point kept_since, const write_run& write);

    /// A reader that merges the rings needs that much for each of them.
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
