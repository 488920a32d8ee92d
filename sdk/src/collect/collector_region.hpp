// SPDX-License-Identifier: MIT
//
// Makes the region of a collector, in private memory of the process.
#pragma once

#include <cstdint>

#include "collect/patterns.hpp"
#include "ring/region.hpp"

namespace eventlog::core {

/// Zeroed private memory, which takes up room when it is used; nullptr if there is none.
[[nodiscard]] unsigned char* map_private(std::uint64_t size) noexcept;

/// The geometry for that many CPUs as the system has.
[[nodiscard]] region_geometry plan_private_region(std::uint32_t buffer_count,
                                                  std::uint32_t buffer_size) noexcept;

/// Makes a complete region, in discard mode, that takes events; nullptr if there is no memory.
[[nodiscard]] unsigned char* make_private_region(const region_geometry& geometry,
                                                 const packed_patterns& patterns) noexcept;

/// Replaces the filter. Under the registry lock.
void store_filter(eventlog_region& region, const packed_patterns& patterns) noexcept;

}  // namespace eventlog::core
