// SPDX-License-Identifier: MIT
//
// What is left of a subscription's region when it has ended: nobody must write to its rings.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "listener.hpp"
#include "region.hpp"
#include "unique_fd.hpp"

namespace eventlog::test {

class ended_region {
  public:
    /// Ends the listener's subscription, whose records have been read, and takes it away.
    explicit ended_region(std::unique_ptr<listener> ears);

    /// Fails the test if rings or buffers are not as they were then.
    void expect_untouched() const;

  private:
    [[nodiscard]] std::vector<std::uint8_t> read() const;

    core::unique_fd file_;
    core::region_geometry geometry_;
    std::vector<std::uint8_t> left_;
};

}  // namespace eventlog::test
