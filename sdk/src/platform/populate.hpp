// SPDX-License-Identifier: MIT
//
// Memory for pages of a mapped file before anybody touches them: a full tmpfs is an error then, and
// not a SIGBUS.
#pragma once

#include <cstddef>

namespace eventlog::core {

/// Whether the kernel can do that: Linux 5.14 and later. False where an emulator or a sandbox only
/// says so. Async-signal-safe, leaves errno alone.
[[nodiscard]] bool can_populate() noexcept;

/// Gives whole pages, mapped for writing, their memory; those that have it keep what is in them.
/// False if there is none left, or the kernel or a sandbox refuses. Only where it can be done: else
/// there may be no memory though this says so. Async-signal-safe, needs no
/// descriptor, leaves errno alone.
[[nodiscard]] bool populate(void* begin, std::size_t size) noexcept;

/// Takes these pages' memory away, for all who have the file mapped, as far as there is any: they
/// are zero, as if nobody had ever written there. As async-signal-safe. Memory that a program keeps
/// locked (mlockall) stays, and what a sandbox does not let go of.
void release_pages(void* begin, std::size_t size) noexcept;

}  // namespace eventlog::core
