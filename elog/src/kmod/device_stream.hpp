// SPDX-License-Identifier: MIT
//
// What read(2) of /dev/eventlog gives: records of all rings one behind the other, and gaps among
// them. Made into runs, as those that read regions hand them over.
#pragma once

#include <linux/eventlog_device.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "memory/region_reader.hpp"
#include "record/records.hpp"

namespace elog {

class device_stream {
  public:
    using run_handler = std::function<void(const record_run&)>;
    using is_wanted = std::function<bool(const record_view&)>;

    /// The last ring is that of no CPU, and stays empty.
    explicit device_stream(std::uint32_t ring_count) : rings_(ring_count), totals_(ring_count) {}

    /// Takes what one call has given. Records that are not wanted are left out, as if they had
    /// never been; nothing said means all are. The bytes of a run are those that are given here.
    /// Throws failure if they are no whole records.
    void take(std::span<const std::uint8_t> bytes, const is_wanted& wanted,
              const run_handler& take);

    /// Whether a ring has been read as far as that, what has been left out included.
    [[nodiscard]] bool has_read_up_to(std::uint32_t ring,
                                      const eventlog_statistics& counts) const noexcept;

    /// What is missing behind the last record of a ring, and has been told in no run.
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
        std::uint64_t next = 0;  // number of the next record: handed over and missing before it
        std::uint64_t filtered_out = 0;  // records
    };

    void take_gap(const record_view& record);
    void deliver(std::uint32_t ring, std::span<const std::uint8_t> bytes, std::uint64_t count,
                 const run_handler& take);

    std::vector<ring_state> rings_;
    std::vector<ring_totals> totals_;
};

}  // namespace elog
