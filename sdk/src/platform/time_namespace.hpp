// SPDX-License-Identifier: MIT
//
// The offsets of this process's time namespace (time_namespaces(7)), in which CLOCK_MONOTONIC,
// CLOCK_BOOTTIME and the start times of processes differ from those of the machine. Programs in
// several time namespaces share a region, so all times in shared memory and in recordings are those
// of the machine: of the first time namespace.
//
// All functions may be called by any thread and in signal handlers, and leave errno unchanged.
#pragma once

#include <cstdint>

namespace eventlog::core {

/// The clocks of the namespace minus those of the machine, in nanoseconds.
struct time_offsets {
    std::int64_t monotonic = 0;
    std::int64_t boottime = 0;
};

/// Reads the text of /proc/PID/timens_offsets. False if an offset is missing or out of range; then
/// the other may have been stored.
[[nodiscard]] bool parse_time_offsets(const char* text, time_offsets& offsets) noexcept;

/// Reads the offsets of this process: they change at fork(2), setns(2), and when a checkpoint is
/// restored. Where /proc is unreadable, or this process has called unshare(2) for its children, the
/// last known ones stay.
void read_time_offsets() noexcept;

/// The last offsets that were read. Reads them if that has never been tried.
[[nodiscard]] time_offsets own_time_offsets() noexcept;

/// The start time in a file /proc/PID/stat, in clock ticks of the machine. It may be one tick too
/// early if the offset is no whole number of ticks.
[[nodiscard]] std::uint64_t machine_start_time(std::uint64_t start_time) noexcept;

/// The same with given offsets and length of a tick in nanoseconds.
[[nodiscard]] std::uint64_t machine_start_time(std::uint64_t start_time, std::int64_t offset,
                                               std::int64_t tick) noexcept;

}  // namespace eventlog::core
