// SPDX-License-Identifier: MIT
//
// A ledger of attempted events and received records.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "listener.hpp"

namespace eventlog::test {

class event_ledger {
  public:
    /// Adds an event that must be read or counted as lost, in the order of the records in a ring.
    void expect(std::uint64_t number, pid_t thread);

    /// Reads all records and checks each: it is whole, it is in the ring of its CPU, it has the
    /// next number there, and its time is not before that of the previous record.
    void read(event_listener& listener);

    /// Checks that each expected event was read once and in order, or counted as lost, and no other
    /// event. Clears the ledger.
    void expect_all_accounted(std::uint64_t lost);

    /// Call when a new subscription, with new rings, begins.
    void reset_rings() { rings_.clear(); }

  private:
    struct event {
        std::uint64_t number;
        std::uint32_t thread;
    };
    struct received_event {
        std::uint64_t number;
        std::uint32_t thread;
        std::uint32_t ring;
    };

    struct last_position {
        std::uint64_t time = 0;
        std::uint64_t attempted = 0;
    };

    void check_ring_position(event_listener& listener, const received_record& record);

    std::vector<event> expected_;
    std::vector<received_event> received_;
    std::map<std::uint32_t, last_position> rings_;
};

}  // namespace eventlog::test
