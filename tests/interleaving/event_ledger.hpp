// SPDX-License-Identifier: MIT
//
// What has been attempted, and what came of it.
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
    /// An event that must be read, or be counted as lost. In the order in which they must be in a
    /// ring.
    void expect(std::uint64_t number, pid_t thread);

    /// Takes what is there to be read, and checks each record: it is whole, its ring is that of its
    /// CPU, it has the next number there, and no time that a sequence has read lies before the one
    /// in front of it.
    void read(event_listener& listener);

    /// Everything expected has been read, once, in order, but for what was counted as lost; and
    /// nothing else. Begins anew.
    void expect_all_accounted(std::uint64_t lost);

    /// There is another subscription: its rings have nothing to do with those before.
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
