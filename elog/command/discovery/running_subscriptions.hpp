// SPDX-License-Identifier: MIT
//
// The subscriptions in a directory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shm/directory.hpp"

namespace elog {

/// A subscription: a recording, or a flight recorder.
struct running_subscription {
    unsigned slot = 0;  // its bit in the gates
    std::uint32_t pid = 0;
    std::string process;         // empty if unknown: the process is in another container
    std::string name;            // of a flight recorder, whose process may have ended; else empty
    std::uint32_t features = 0;  // EVENTLOG_FEATURE_...
    bool overwrites = false;
    bool has_ended = false;    // a flight recorder that has ended keeps its events
    bool is_paused = false;    // it takes no events until it is resumed
    std::uint64_t memory = 0;  // bytes of shared memory
    std::string filter;        // rules, sampling and processes: see stored_filter.hpp
    std::vector<std::uint64_t> sessions;

    /// The rules with their rates, "shop:order_* 1/100", and the processes as "=4242" or "~nginx*".
    [[nodiscard]] std::vector<std::string> rules() const;
    [[nodiscard]] std::vector<std::string> processes() const;
    /// Largest number of events per second in snapshots; 0: any.
    [[nodiscard]] std::uint64_t max_rate() const;
};

/// The live subscriptions and the flight recorders of a directory, by slot.
[[nodiscard]] std::vector<running_subscription> read_subscriptions(
    const eventlog::core::directory& where, std::vector<std::string>& complaints);

}  // namespace elog
