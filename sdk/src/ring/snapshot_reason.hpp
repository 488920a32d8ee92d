// SPDX-License-Identifier: MIT
//
// Why a snapshot is asked for, as it stands in a region: see "Asking for a snapshot" in
// linux/eventlog.h. All of it may run in a signal handler.
#pragma once

#include <linux/eventlog.h>

#include <array>
#include <cstdint>

namespace eventlog::core {

using reason_words = std::array<std::uint64_t, EVENTLOG_SNAPSHOT_REASON_WORDS>;

/// The first bytes of a text, or none for NULL, without tickets.
[[nodiscard]] reason_words pack_reason(const char* reason) noexcept;

/// Puts them into the region, unless a request with a later ticket has been there.
void store_reason(eventlog_region& region, const reason_words& reason,
                  std::uint32_t ticket) noexcept;

}  // namespace eventlog::core
