// SPDX-License-Identifier: MIT
//
// The patterns of a collector as the filter of its region; see schema/filter.hpp.
#pragma once

#include <linux/eventlog.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include <eventlog/definition.h>

#include "platform/error_text.hpp"

namespace eventlog::core {

struct packed_patterns {
    std::array<char, EVENTLOG_FILTER_SIZE_MAX> text{};
    std::uint32_t size = 0;
};

/// Validates patterns PROVIDER[:EVENT][@LEVEL][/KEYWORD,...] and packs them. "tcp" means "tcp:*",
/// and @debug means @verbose. After an error `error` holds the message.
[[nodiscard]] eventlog_error pack_patterns(const char* const* patterns, std::size_t count,
                                           packed_patterns& packed, error_text& error) noexcept;

}  // namespace eventlog::core
