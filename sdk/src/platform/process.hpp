// SPDX-License-Identifier: MIT
//
// Which process wrote a file, and whether it is still there.
#pragma once

#include <array>
#include <cstdint>

namespace eventlog::core {

/// A process, told apart from a later one with the same number.
struct process_identity {
    std::uint32_t pid = 0;
    std::uint32_t uid = 0;
    std::uint64_t start_time = 0;     // clock ticks after boot; 0 where /proc does not tell
    std::uint64_t pid_namespace = 0;  // inode; 0 where /proc does not tell
    std::array<char, 16> name{};      // ends with NUL
};

/// The calling process. Reads /proc; takes microseconds.
[[nodiscard]] process_identity current_process() noexcept;

/// The same, as it was found out at the first registration, and again in a forked child.
void remember_identity(const process_identity& identity) noexcept;
[[nodiscard]] const process_identity& own_identity() noexcept;

/// False in a child that was made without fork(): what it finds of registrations, gates and files
/// is its parent's. True where nobody has found out who this is: there others see nothing of it.
[[nodiscard]] bool is_own_process() noexcept;

/// False only if the process, or thread, is certain to have ended. What cannot be judged, because
/// it lives in another pid namespace, counts as alive.
[[nodiscard]] bool is_alive(std::uint32_t pid, std::uint64_t start_time,
                            std::uint64_t pid_namespace) noexcept;

/// In which pid namespace the calling process lives: an inode; 0 where /proc does not tell.
[[nodiscard]] std::uint64_t own_pid_namespace() noexcept;

/// The calling thread's kernel thread id once it has been asked for, else 0: then its events do not
/// take the shortest way. initial-exec: reading
/// it never allocates, so a signal handler may.
[[gnu::tls_model("initial-exec"),
  gnu::visibility("hidden")]] extern constinit thread_local std::uint32_t known_thread_id;

/// While it lives, the calling thread's events do not take the shortest way: the id above is 0.
class fast_path_blocker {
  public:
    fast_path_blocker() noexcept;
    ~fast_path_blocker();
    fast_path_blocker(const fast_path_blocker&) = delete;
    fast_path_blocker& operator=(const fast_path_blocker&) = delete;
};

/// The same, asked for if need be. Async-signal-safe.
[[nodiscard]] std::uint32_t thread_id() noexcept;

/// To be called in a forked child: its thread id is a new one.
void reset_thread_id() noexcept;

}  // namespace eventlog::core
