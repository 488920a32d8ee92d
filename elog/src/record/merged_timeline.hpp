// SPDX-License-Identifier: MIT
//
// Maps times and rings of a recording to those of a merged recording.
//
// Recordings of elog alone keep their common clock. With a recording of perf or trace-cmd among
// them, the merged one uses CLOCK_MONOTONIC.
#pragma once

#include <linux/eventlog.h>

#include <cstdint>
#include <optional>

#include "record/clock_converter.hpp"
#include "record/time_merger.hpp"

namespace elog {

class merged_timeline {
  public:
    /// Changes neither times nor rings.
    merged_timeline() = default;
    /// Converts times to CLOCK_MONOTONIC by the clock's readings. Both numbers of rings include the
    /// shared ring, which is the last one.
    merged_timeline(clock_converter clock, std::uint32_t rings_of_file, std::uint32_t rings)
        : clock_(std::move(clock)), rings_of_file_(rings_of_file), rings_(rings) {}
    /// Adds `later` nanoseconds to all times.
    merged_timeline(std::int64_t later, std::uint32_t rings_of_file, std::uint32_t rings)
        : offset_(later), rings_of_file_(rings_of_file), rings_(rings) {}

    [[nodiscard]] std::uint64_t time(std::uint64_t clock) const noexcept;
    /// Maps all times of a run, in place.
    void move(owned_run& run) const;
    /// The file's readings and offsets with mapped times.
    [[nodiscard]] clock_converter readings(const clock_converter& of_file) const;

    /// The file's ring that becomes `ring` of the merged recording; nullopt if there is none.
    [[nodiscard]] std::optional<std::uint32_t> ring_of_file(std::uint32_t ring) const noexcept;
    /// The ring of the merged recording that `of_file` becomes.
    [[nodiscard]] std::uint32_t ring(std::uint32_t of_file) const noexcept;

  private:
    std::optional<clock_converter> clock_;
    std::int64_t offset_ = 0;
    std::uint32_t rings_of_file_ = 0;  // 0: nothing is mapped
    std::uint32_t rings_ = 0;
};

}  // namespace elog
