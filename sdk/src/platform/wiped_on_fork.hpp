// SPDX-License-Identifier: MIT
//
// Locks that a copy of the address space finds unlocked.
//
// A child of fork() has the locks of its parent's other threads, but not these threads. The
// handlers of pthread_atfork wait for the locks before the copy; but a child of _Fork(3), clone(2)
// or a raw system call, or of a fork() that began before the handlers were registered, runs none of
// them. So the locks are in a page that the kernel wipes in each copy. A child that shares its
// parent's memory (vfork) shares the locks, too.
//
// Where the kernel cannot wipe pages (before Linux 4.14, or larger ones) they are ordinary locks.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace eventlog::core {

#if defined(__aarch64__)
inline constexpr std::size_t wiped_page_size = 65536;  // kernels may use pages of 64 KiB
#else
inline constexpr std::size_t wiped_page_size = 4096;
#endif

struct alignas(wiped_page_size) wiped_page {
    /// Of the registry: the kernel id of the holding thread, and a bit while others wait; 0: free.
    std::atomic<std::uint32_t> registry{0};
    /// Whether a thread replaces the state of the custom clock.
    std::atomic<bool> has_clock_writer{false};
    /// Stored at the first registration: false in a copy that has not registered anything.
    std::atomic<bool> is_prepared{false};
};

[[gnu::visibility("hidden")]] extern constinit wiped_page wiped_on_fork;

/// Has the kernel wipe the page in copies. Called before the first use of a lock, and again in a
/// copy; cheap after the first call.
void wipe_locks_on_fork() noexcept;

}  // namespace eventlog::core
