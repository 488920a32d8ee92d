// SPDX-License-Identifier: MIT
//
// The region of an ended subscription. No record may be written to it. A thread that was making
// room may still apply its decision, which begins one more buffer or counts the event as lost,
// without effect on the reader.
#pragma once

#include <cstdint>
#include <memory>

#include "listener.hpp"
#include "platform/unique_fd.hpp"
#include "ring/region.hpp"

namespace eventlog::test {

class ended_region {
  public:
    /// Takes ownership of the listener, whose subscription has ended and whose records have been
    /// read.
    explicit ended_region(std::unique_ptr<event_listener> listener);

    /// Fails the test if the region has new records, or bytes in the buffers, whose memory was
    /// released.
    void expect_untouched() const;

    /// The number of events counted as lost since the end.
    [[nodiscard]] std::uint64_t lost_since() const { return count().lost - left_.lost; }

  private:
    struct sums {
        std::uint64_t records = 0;
        std::uint64_t lost = 0;
    };
    [[nodiscard]] sums count() const;

    core::unique_fd file_;
    core::region_geometry geometry_;
    sums left_;
};

}  // namespace eventlog::test
