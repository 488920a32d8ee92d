// SPDX-License-Identifier: MIT
//
// Where a recording's times stand in a merged one. Those of elog alone keep the clock that they
// have in common; where one of perf's or trace-cmd's is among them, the line is CLOCK_MONOTONIC.
#pragma once

#include <linux/eventlog.h>

#include <cstdint>
#include <optional>

#include "record/clock_converter.hpp"
#include "record/time_merger.hpp"

namespace elog {

class merged_timeline {
  public:
    /// Times stay what they are, and rings where they are.
    merged_timeline() = default;
    /// Times on a clock become CLOCK_MONOTONIC by its readings. Both the file's rings and the
    /// merged one's are counted with the shared one, which is the last.
    merged_timeline(clock_converter clock, std::uint32_t rings_of_file, std::uint32_t rings)
        : clock_(std::move(clock)), rings_of_file_(rings_of_file), rings_(rings) {}
    /// Times become later by so many nanoseconds.
    merged_timeline(std::int64_t later, std::uint32_t rings_of_file, std::uint32_t rings)
        : offset_(later), rings_of_file_(rings_of_file), rings_(rings) {}

    [[nodiscard]] std::uint64_t time(std::uint64_t clock) const noexcept;
    /// All times of a run.
    void move(owned_run& run) const;
    /// The readings and offsets on that line.
    [[nodiscard]] clock_converter readings(const clock_converter& of_file) const;

    /// Which ring of the file is that one of the merged recording; nothing: it has none.
    [[nodiscard]] std::optional<std::uint32_t> ring_of_file(std::uint32_t ring) const noexcept;
    /// The other way round.
    [[nodiscard]] std::uint32_t ring(std::uint32_t of_file) const noexcept;

  private:
    std::optional<clock_converter> clock_;
    std::int64_t offset_ = 0;
    std::uint32_t rings_of_file_ = 0;  // 0: the same
    std::uint32_t rings_ = 0;
};

}  // namespace elog
