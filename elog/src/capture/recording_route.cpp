// SPDX-License-Identifier: MIT
#include "capture/recording_route.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace elog {
namespace {

// In the order of the enumeration.
constexpr std::array<const char*, 5> names{"memory", "device", "relay", "tracefs", "perf"};

}  // namespace

const char* name_of(recording_route route) noexcept {
    return names[static_cast<std::size_t>(route)];
}

std::optional<recording_route> find_route(std::string_view name) noexcept {
    const auto* const found = std::find(names.begin(), names.end(), name);
    return found == names.end()
               ? std::nullopt
               : std::optional(static_cast<recording_route>(found - names.begin()));
}

}  // namespace elog
