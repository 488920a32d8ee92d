// SPDX-License-Identifier: MIT
//
// Allocates memory for pages of a mapped file before their first use, so that a full tmpfs is an
// error and not a SIGBUS.
//
// All functions are async-signal-safe and leave errno unchanged.
#pragma once

#include <cstddef>

namespace eventlog::core {

/// Whether the kernel supports it: Linux 5.14 and later. False where an emulator or a sandbox
/// reports success without an effect.
[[nodiscard]] bool can_populate() noexcept;

/// Allocates memory for whole pages of a writable mapping; pages that have memory keep their
/// content. False if no memory is left, or if the kernel or a sandbox refuses. Needs no descriptor.
/// Precondition: can_populate(); otherwise the result is meaningless.
[[nodiscard]] bool populate(void* begin, std::size_t size) noexcept;

/// Frees the memory of these pages for all processes that map the file; they read as zero
/// afterwards. Pages that a program has locked (mlockall), and pages for which a sandbox forbids
/// the call, keep their memory.
void release_pages(void* begin, std::size_t size) noexcept;

}  // namespace eventlog::core
