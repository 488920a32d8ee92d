// SPDX-License-Identifier: MIT
//
// Translates subscription patterns (patterns.hpp) into a request to the kernel module: see
// EVENTLOG_SUBSCRIBE in linux/eventlog_device.h.
#pragma once

#include <linux/eventlog_device.h>

#include <cstdint>
#include <vector>

#include "schema/patterns.hpp"

namespace elog {

/// The kernel knows the bits of keywords, which differ between providers, and not their names. A
/// rule that names keywords asks for all events.
struct device_request {
    std::vector<eventlog_filter_rule> rules{};
    std::vector<eventlog_process_filter> processes{};
    std::vector<std::uint64_t> sessions{};
    bool names_keywords = false;

    /// Throws user_error if the kernel cannot express a pattern.
    explicit device_request(const event_patterns& patterns);
};

}  // namespace elog
