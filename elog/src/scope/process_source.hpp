// SPDX-License-Identifier: MIT
//
// What the kernel states about processes, as an interface that tests replace.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace elog {

/// A process or, where a function takes a thread, a thread. Numbers are those of this process's pid
/// namespace.
struct process_stat {
    std::uint32_t pid = 0;
    std::uint32_t parent = 0;      // 0: none, or outside of the pid namespace
    std::uint64_t start_time = 0;  // clock ticks after boot
};

/// A process was created.
struct fork_event {
    std::uint32_t parent = 0;
    std::uint32_t child = 0;
    std::uint64_t time = 0;  // clock ticks after boot: the child's start, or one tick later
};

class process_source {
  public:
    process_source() = default;
    process_source(const process_source&) = delete;
    process_source& operator=(const process_source&) = delete;
    virtual ~process_source() = default;

    /// The calling process.
    [[nodiscard]] virtual std::uint32_t self() const = 0;
    /// A process or thread that exists, also as a zombie.
    [[nodiscard]] virtual std::optional<process_stat> find(std::uint32_t pid) = 0;
    /// All processes that exist, read one after the other.
    [[nodiscard]] virtual std::vector<process_stat> find_all() = 0;
    /// The process's number in the innermost pid namespace that it belongs to; 0: unknown.
    [[nodiscard]] virtual std::uint32_t innermost_pid(std::uint32_t pid) = 0;
    /// Appends the processes created since the last call, in their order, before any of them runs.
    /// Returns false if some are missing, or if the kernel does not report them.
    [[nodiscard]] virtual bool take_forks(std::vector<fork_event>& forks) = 0;
    /// Removes an ended child of the calling process other than `command`, and returns what it was.
    [[nodiscard]] virtual std::optional<process_stat> reap_orphan(std::uint32_t command) = 0;
};

}  // namespace elog
