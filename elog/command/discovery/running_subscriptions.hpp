// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shm/directory.hpp"

namespace elog {

/// Somebody who listens.
struct running_subscription {
    unsigned slot = 0;  // its bit in the gates
    std::uint32_t pid = 0;
    std::string process;  // empty if it cannot be told: it lives in another container
    std::string name;     // of one that stands by itself, whose process may have ended; else empty
    std::uint32_t features = 0;  // EVENTLOG_FEATURE_...
    bool overwrites = false;
    bool has_ended = false;    // one that stands by itself may have, and keep what it holds
    std::uint64_t memory = 0;  // that it keeps
    std::string filter;        // rules and processes, each ended by NUL: see filter.hpp
    std::vector<std::uint64_t> sessions;

    /// The rules one by one, and the processes, as "=4242" or "~nginx*".
    [[nodiscard]] std::vector<std::string> rules() const;
    [[nodiscard]] std::vector<std::string> processes() const;
};

/// The subscriptions in the directory that take events now, or stand by themselves, by slot.
[[nodiscard]] std::vector<running_subscription> read_subscriptions(
    const eventlog::core::directory& where, std::vector<std::string>& complaints);

}  // namespace elog
