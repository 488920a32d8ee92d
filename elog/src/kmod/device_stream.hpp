// SPDX-License-Identifier: MIT
//
// Splits the stream that read(2) of /dev/eventlog returns, runs of records of all rings with
// markers between them, into runs like those of region_reader.
#pragma once

#include <linux/eventlog_device.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "kmod/stream_marker.hpp"
#include "memory/region_reader.hpp"
#include "record/records.hpp"

namespace elog {

class device_stream {
  public:
    using run_handler = std::function<void(const record_run&)>;
    using is_wanted = std::function<bool(const record_view&)>;

    /// The last ring is for records without a CPU and stays empty. `events` must outlive this
    /// object.
    device_stream(std::uint32_t ring_count, const event_numbers& events)
        : rings_(ring_count), totals_(ring_count), events_(&events) {}

    /// Processes the bytes of one read, whose runs are valid during the call of `take`. Records for
    /// which `wanted` returns false are skipped without counting as lost; an empty function keeps
    /// all. Throws user_error if the bytes are not whole runs.
    void take(std::span<const std::uint8_t> bytes, const is_wanted& wanted,
              const run_handler& take);

    /// Whether the ring has been read up to these counts, skipped records included.
    [[nodiscard]] bool has_read_up_to(std::uint32_t ring,
                                      const eventlog_statistics& counts) const noexcept;

    /// Losses behind the last record of a ring, which no run has reported.
    struct trailing_losses {
        std::uint64_t lost = 0;
        std::uint64_t overwritten = 0;
    };
    [[nodiscard]] trailing_losses trailing_losses_of(std::uint32_t ring) const noexcept {
        return rings_[ring].unreported;
    }
    [[nodiscard]] const std::vector<ring_totals>& rings() const noexcept { return totals_; }

  private:
    struct ring_state {
        trailing_losses unreported{};
        std::uint64_t next = 0;          // sequence number of the next record
        std::uint64_t filtered_out = 0;  // skipped records
    };

    [[nodiscard]] std::uint32_t take_marker(const stream_marker& marker, std::uint32_t ring);
    void deliver(record_run run, const run_handler& take);
    void deliver_wanted(const record_run& all, const is_wanted& wanted, const run_handler& take);

    std::vector<ring_state> rings_;
    std::vector<std::uint8_t> kept_;  // records of a run without those that are skipped
    std::vector<ring_totals> totals_;
    const event_numbers* events_;
};

}  // namespace elog
