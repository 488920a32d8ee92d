// SPDX-License-Identifier: MIT
//
// What is left of a subscription's region when it has ended. Nobody must write a record there. A
// thread that was just making room may still do what it had decided, which takes a buffer more, or
// counts the event as lost: nobody reads that.
#pragma once

#include <cstdint>
#include <memory>

#include "listener.hpp"
#include "platform/unique_fd.hpp"
#include "ring/region.hpp"

namespace eventlog::test {

class ended_region {
  public:
    /// Takes the listener away, whose subscription has ended and whose records have been read.
    explicit ended_region(std::unique_ptr<event_listener> listener);

    /// Fails the test if there are more records than there were, or a byte in the buffers, whose
    /// memory had been given back.
    void expect_untouched() const;

    /// How many events have been counted as lost since.
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
