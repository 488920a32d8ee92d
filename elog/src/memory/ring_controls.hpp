// SPDX-License-Identifier: MIT
//
// Reads the control words and buffer descriptors of a region's rings while producers change them.
//
// A reading is a consistent pair of generation and position, or states that it is not exact. Stores
// nothing. One thread uses it.
#pragma once

#include <linux/eventlog.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "memory/region_accessor.hpp"
#include "ring/region.hpp"

namespace elog {

/// A reading of a control word. If not exact, position and count are of different moments, and at
/// least `position` bytes of the generation are filled.
struct control_reading {
    eventlog::core::control_word word{};
    bool exact = true;
};

/// What a buffer holds and what precedes it. Not trusted before the producer is known to have left
/// the buffer alone.
struct buffer_state {
    eventlog::core::control_word filled{};
    std::uint64_t records_before = 0;
    std::uint64_t lost_before = 0;
    bool exact = true;  // otherwise `filled` may end inside a record
};

struct active_buffer {
    control_reading control{};
    std::uint64_t generation = 0;
    std::uint64_t records_before = 0;
};

/// All functions throw user_error if the file of the region has been truncated.
class ring_controls {
  public:
    /// Both must outlive it.
    ring_controls(const region_accessor& words, const eventlog::core::region_geometry& geometry);

    /// Passes on the control word of each ring with memory. A word that is being stored may be
    /// torn: the value only decides which rings are read more closely.
    template <class Take>
    void for_each(const Take& take);

    /// Returns nothing if the word changes so fast that not even its generation stays.
    [[nodiscard]] std::optional<control_reading> control_of(std::uint32_t ring) const;
    /// `control` is the ring's control word. It belongs to that generation if the buffer is active.
    [[nodiscard]] buffer_state state_of(std::uint32_t ring, std::uint64_t generation,
                                        const control_reading& control, bool active) const;
    /// Returns the control word with its whole generation; nothing if the producer is too fast.
    [[nodiscard]] std::optional<active_buffer> find_active(std::uint32_t ring) const;
    /// Whether all that was read of the buffer and its descriptor belongs to that generation.
    [[nodiscard]] bool is_still_buffered(std::uint32_t ring, std::uint64_t generation) const;

  private:
    // Bytes of ring heads copied at once, where that costs less than one read per control word.
    static constexpr std::size_t heads_size = std::size_t{64} << 10U;
    static constexpr std::size_t stride_at_once = 1024;

    [[nodiscard]] std::uint64_t descriptor_offset(std::uint32_t ring,
                                                  std::uint64_t generation) const noexcept;

    const region_accessor& words_;
    const eventlog::core::region_geometry& geometry_;
    std::vector<bool> backed_;         // by ring
    std::vector<std::uint8_t> heads_;  // copy of several ring heads
};

template <class Take>
void ring_controls::for_each(const Take& take) {
    const std::size_t stride = geometry_.ring_stride;
    const std::size_t at_once = stride <= stride_at_once ? heads_.size() / stride : 1;
    std::uint32_t first = 0;
    while (first < geometry_.ring_count) {
        std::uint32_t end = first;
        while (end < geometry_.ring_count && end - first < at_once && backed_[end]) {
            ++end;
        }
        if (end == first) {
            ++first;
            continue;
        }
        const std::size_t size = (end - first - 1) * stride + sizeof(std::uint64_t);
        words_.copy(heads_.data(), size,
                    geometry_.ring_offset(first) + offsetof(eventlog_ring, control));
        for (const std::uint8_t* word = heads_.data(); first < end; ++first, word += stride) {
            eventlog::core::control_word control{};
            std::memcpy(&control.value, word, sizeof control.value);
            take(first, control);
        }
    }
}

}  // namespace elog
