// SPDX-License-Identifier: MIT
//
// Identity and liveness of processes, and the thread id of the calling thread.
#pragma once

#include <array>
#include <cstdint>

namespace eventlog::core {

/// A process, distinguishable from a later process with the same pid.
struct process_identity {
    std::uint32_t pid = 0;
    std::uint32_t uid = 0;
    std::uint64_t start_time = 0;     // ticks after boot, machine_start_time(); 0: no /proc
    std::uint64_t pid_namespace = 0;  // inode; 0 where /proc is unreadable
    std::array<char, 16> name{};      // NUL-terminated
};

/// False if a sandbox denies getpid.
[[nodiscard]] constexpr bool is_known(const process_identity& process) noexcept {
    return process.pid != 0 && process.pid <= INT32_MAX;
}

/// The calling process. Reads /proc, also the offsets of its time namespace; takes microseconds.
[[nodiscard]] process_identity current_process() noexcept;

/// The identity stored at the first registration, and again in a forked child.
void remember_identity(const process_identity& identity) noexcept;
[[nodiscard]] const process_identity& own_identity() noexcept;

/// False in a child created without fork(): registrations, gates and files in its memory belong to
/// the parent. True while no identity is stored, because nothing is published then.
[[nodiscard]] bool is_own_process() noexcept;

/// False only if the process has certainly ended. A process of another pid namespace cannot be
/// checked and counts as alive. A start time of 0 is unknown.
[[nodiscard]] bool is_alive(std::uint32_t pid, std::uint64_t start_time,
                            std::uint64_t pid_namespace) noexcept;

/// The same for a thread of this pid namespace, whose start time is unknown. Needs less stack.
[[nodiscard]] bool is_thread_alive(std::uint32_t tid) noexcept;

/// The pid namespace of the calling process as an inode; 0 where /proc is unreadable.
[[nodiscard]] std::uint64_t own_pid_namespace() noexcept;

/// The calling thread's kernel thread id; 0 until thread_id() is called, and then its events do not
/// use the fast path. initial-exec: reading it never allocates, so signal handlers may read it.
[[gnu::tls_model("initial-exec"),
  gnu::visibility("hidden")]] extern constinit thread_local std::uint32_t known_thread_id;

/// From block to unblock, which may be nested, the calling thread's events do not use the fast
/// path: known_thread_id is 0.
void block_fast_path() noexcept;
void unblock_fast_path() noexcept;

class fast_path_blocker {
  public:
    fast_path_blocker() noexcept { block_fast_path(); }
    ~fast_path_blocker() { unblock_fast_path(); }
    fast_path_blocker(const fast_path_blocker&) = delete;
    fast_path_blocker& operator=(const fast_path_blocker&) = delete;
};

/// The calling thread's kernel thread id. The first call makes a system call. Async-signal-safe.
[[nodiscard]] std::uint32_t thread_id() noexcept;

/// Called in a forked child, which has another thread id.
void reset_thread_id() noexcept;

}  // namespace eventlog::core
