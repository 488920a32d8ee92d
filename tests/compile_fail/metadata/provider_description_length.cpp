// SPDX-License-Identifier: MIT
//
// expect: the description of this provider is longer than 255 bytes
#include <cstdint>

#include <eventlog/eventlog.hpp>

/// 256 letters.
constexpr const char* text = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                             "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                             "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                             "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";

struct lost {
    std::uint32_t bytes;
};

using bad = eventlog::provider<"bad", lost>;

template <>
inline constexpr eventlog::provider_info eventlog::provider_info_of<bad>{.description = text};

void emit_it() {
    bad::schema();
}
