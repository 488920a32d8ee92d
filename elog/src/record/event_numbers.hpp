// SPDX-License-Identifier: MIT
//
// The events of a recording by their numbers: each provider has a range of them. Those of a region
// are described in linux/eventlog.h; a file has the same, and more for providers without numbers.
#pragma once

#include <cstdint>
#include <map>

#include "schema/provider_schema.hpp"

namespace elog {

/// The numbers of a provider's events, in the order of its schema.
struct event_range {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    std::uint32_t provider = 0;

    [[nodiscard]] constexpr bool contains(std::uint32_t number) const noexcept {
        return number - first < count;
    }
};

class event_numbers {
  public:
    /// Adds a range, unless it is empty or begins at 0, which is no number of an event. Returns
    /// false, and adds nothing, if it ends above UINT32_MAX or overlaps an earlier one.
    bool add(const event_range& added);
    /// The range of a provider of a region. Also false if it ends above EVENTLOG_EVENT_NUMBER_MAX.
    bool add(const provider_instance& provider);

    /// The range with that number; an empty one if there is none.
    [[nodiscard]] event_range find(std::uint32_t number) const noexcept;

  private:
    std::map<std::uint32_t, event_range> ranges_;  // by first number
};

}  // namespace elog
