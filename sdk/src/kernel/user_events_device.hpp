// SPDX-License-Identifier: MIT
//
// Finds and opens the kernel's file: the device of the module, or that of user_events. See
// user_events_abi.hpp.
#pragma once

#include <cstdint>

#include <eventlog/abi.h>

#include "platform/error_text.hpp"
#include "platform/unique_fd.hpp"

namespace eventlog::core {

struct user_events_device {
    unique_fd file;  // close-on-exec; if empty, the members below give the reason
    eventlog_status_code status = EVENTLOG_STATUS_OK;
    bool is_retryable = false;        // while this process runs
    bool is_support_unknown = false;  // whether this kernel has user_events
    bool has_status_page = false;     // kernels before 6.4; the page is mapped
    bool is_module = false;           // /dev/eventlog instead of user_events
};

/// Opens user_events_data in /sys/kernel/tracing, /sys/kernel/debug/tracing or any other mount of
/// tracefs, and finds out how the kernel publishes listeners. On failure `error` holds the message.
/// On kernels without user_events it makes few system calls. Under the registry lock; allocates
/// nothing.
[[nodiscard]] user_events_device open_user_events(error_text& error) noexcept;

/// As open_user_events, but tries the module's device first. If that is inaccessible and there are
/// no user_events either, `error` is about the device.
[[nodiscard]] user_events_device open_module_or_user_events(error_text& error) noexcept;

/// Whether user_events with words support a flag of a registration. Registers nothing.
[[nodiscard]] bool supports_flag(int file, std::uint16_t flag) noexcept;

/// The first two numbers of a kernel release as returned by uname; 0 if missing.
void read_release(const char* release, int& major, int& minor) noexcept;

/// Finds the next mount point of tracefs at or behind `at` in a list such as /proc/self/mounts.
/// Returns its unescaped path with `name` appended, and advances `at`. False if there is none that
/// fits.
[[nodiscard]] bool next_tracefs_mount(const char* mounts, std::size_t size, std::size_t& at,
                                      const char* name, char* path, std::size_t path_size) noexcept;

}  // namespace eventlog::core
