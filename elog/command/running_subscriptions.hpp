// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "directory.hpp"

namespace elog {

/// Somebody who listens.
struct running_subscription {
    unsigned slot = 0;  // its bit in the gates
    std::uint32_t pid = 0;
    std::string process;  // empty if it cannot be told: it lives in another container
    std::string filter;   // rules, each ended by NUL: see filter.hpp
    std::vector<std::uint64_t> sessions;

    /// The rules one by one.
    [[nodiscard]] std::vector<std::string> rules() const;
};

/// The subscriptions in the directory that take events now, by slot.
[[nodiscard]] std::vector<running_subscription> read_subscriptions(
    const eventlog::core::directory& where, std::vector<std::string>& complaints);

}  // namespace elog
