// SPDX-License-Identifier: MIT
//
// Memory that is allocated when it is needed and never freed, for parts of a provider that few
// programs use: handles are never freed either.
#pragma once

#include <cstddef>

namespace eventlog::core {

/// The size of the memory that is unloaded with a plugin that contains this library. More is left
/// behind, once for each time that the plugin is loaded.
inline constexpr std::size_t unloaded_memory_size = 106496;

/// Zeroed memory, aligned to 16 bytes; nullptr if there is none. `size` is at most 32 KiB. Under
/// the registry lock; calls no function that a signal handler may not.
[[nodiscard]] void* allocate_permanently(std::size_t size) noexcept;

}  // namespace eventlog::core
