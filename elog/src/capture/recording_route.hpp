// SPDX-License-Identifier: MIT
//
// The routes of events from programs to a reader: the words of --via, and the addresses of libelog.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace elog {

enum class recording_route : std::uint8_t {
    memory,   // a subscription in shared memory, to which programs write
    device,   // a subscription of the kernel module
    relay,    // a subscription of the module that writes to a relay channel
    tracefs,  // an instance of the kernel's tracing
    perf,     // perf buffers of the same events
};

/// Whether the route uses the kernel's tracing.
[[nodiscard]] constexpr bool is_traced(recording_route route) noexcept {
    return route == recording_route::tracefs || route == recording_route::perf;
}

[[nodiscard]] const char* name_of(recording_route route) noexcept;
/// Nothing for another word.
[[nodiscard]] std::optional<recording_route> find_route(std::string_view name) noexcept;

}  // namespace elog
