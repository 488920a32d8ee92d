// SPDX-License-Identifier: MIT
//
// Reads the rings of a collector's region in the order of time, and releases drained buffers.
//
// A look reads the clock, then all control words. An event that is visible then and not later than
// that time has no unseen predecessor, but for events of other CPUs within about a microsecond: the
// emit reads the processor's clock without waiting for earlier instructions. Later events wait for
// the next look. The time of an event with a clock of the program counts as that of the look if it
// is later, so that it delays no events behind it.
#pragma once

#include <linux/eventlog.h>

#include <cstdint>
#include <span>

#include "ring/record_reader.hpp"
#include "ring/region.hpp"

namespace eventlog::core {

/// How far a ring has been read.
struct ring_cursor {
    std::uint64_t generation = 0;
    std::uint64_t offset = 0;         // in the buffer
    std::uint64_t context = 0;        // in front of the offset
    std::uint64_t records = 0;        // read from this buffer
    std::uint64_t lost_reported = 0;  // part of the ring's `lost`
    std::uint64_t total = 0;          // read from this ring, with damaged ones
    control_word visible{};           // by the last look
    bool has_head = false;
    ring_record head{};  // the next record
};

class merged_rings {
  public:
    /// One cursor for each ring.
    merged_rings(unsigned char* region, const region_geometry& geometry,
                 std::span<ring_cursor> cursors) noexcept
        : region_(region), geometry_(geometry), cursors_(cursors) {}

    /// The next record, until pop(); nullptr if there is none. Its payload is in the ring.
    [[nodiscard]] const ring_record* peek() noexcept;
    /// Losses of its ring between the previous record and this one.
    [[nodiscard]] std::uint64_t lost_before() const noexcept;
    void pop() noexcept;

    /// Recorded and not read, by the present control words.
    [[nodiscard]] std::uint64_t unread() const noexcept;
    [[nodiscard]] std::uint64_t lost() const noexcept;
    [[nodiscard]] std::uint64_t damaged() const noexcept { return damaged_; }

  private:
    [[nodiscard]] eventlog_ring* ring(std::size_t index) const noexcept;
    [[nodiscard]] eventlog_buffer* descriptor(std::size_t index,
                                              std::uint64_t generation) const noexcept;
    void look() noexcept;
    void find_head(std::size_t index) noexcept;
    [[nodiscard]] std::uint64_t sort_time(const ring_record& record) const noexcept;
    [[nodiscard]] bool select() noexcept;

    unsigned char* region_;
    region_geometry geometry_;
    std::span<ring_cursor> cursors_;
    std::size_t selected_ = SIZE_MAX;
    std::uint64_t latest_ = 0;  // time of the last look
    std::uint64_t damaged_ = 0;
};

}  // namespace eventlog::core
