// SPDX-License-Identifier: MIT
//
// The reason of a snapshot request as stored in a region: see "Asking for a snapshot" in
// linux/eventlog.h. All functions are async-signal-safe.
#pragma once

#include <linux/eventlog.h>

#include <array>
#include <cstdint>

namespace eventlog::core {

using reason_words = std::array<std::uint64_t, EVENTLOG_SNAPSHOT_REASON_WORDS>;

/// The first bytes of a text without tickets; empty for NULL.
[[nodiscard]] reason_words pack_reason(const char* reason) noexcept;

/// Stores the reason in the region, unless a request with a later ticket has stored its own.
void store_reason(eventlog_region& region, const reason_words& reason,
                  std::uint32_t ticket) noexcept;

/// Requests a snapshot. False if the subscription is not, or not any more, a flight recorder.
bool request_snapshot(eventlog_region& region, const reason_words& reason) noexcept;

}  // namespace eventlog::core
