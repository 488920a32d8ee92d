// SPDX-License-Identifier: MIT
//
// What a user asks for (patterns.hpp), in the words of the kernel module: see EVENTLOG_SUBSCRIBE in
// linux/eventlog_device.h.
#pragma once

#include <linux/eventlog_device.h>

#include <cstdint>
#include <vector>

#include "schema/patterns.hpp"

namespace elog {

/// What the kernel is asked for, in its words. Of keywords it knows the bits, which differ from
/// provider to provider, and not the names: rules that name some ask for all.
struct device_request {
    std::vector<eventlog_filter_rule> rules{};
    std::vector<eventlog_process_filter> processes{};
    std::vector<std::uint64_t> sessions{};
    bool names_keywords = false;

    /// Throws failure for what the kernel cannot be asked for.
    explicit device_request(const event_patterns& patterns);
};

}  // namespace elog
