// SPDX-License-Identifier: MIT
//
// Allocates buffers of the shared ring before its writers need them.
//
// A writer that begins a buffer without memory allocates it, while others wait for the ring's lock.
// If the pages are there already, it only maps them. Nothing depends on it: a writer still makes
// sure that its buffer has memory, and may free a buffer that it could not allocate completely.
#pragma once

#include <cstdint>

#include "record/region_view.hpp"

namespace elog {

class shared_ring_ahead {
  public:
    /// Allocates the buffer behind the one that is in use, once. Nothing before the first record.
    /// Called by the owner of the region, at each poll.
    void keep(const region_view& source) noexcept;

  private:
    std::uint32_t allocated_ = 0;  // buffers, or attempts
};

}  // namespace elog
