// SPDX-License-Identifier: MIT
//
// Finding the file through which the kernel is reached: the device of eventlog's module, or that of
// user_events. See user_events_abi.hpp.
#pragma once

#include <cstdint>

#include <eventlog/abi.h>

#include "platform/error_text.hpp"
#include "platform/unique_fd.hpp"

namespace eventlog::core {

struct user_events_device {
    unique_fd file;  // close-on-exec; none: then the rest says why
    eventlog_status_code status = EVENTLOG_OK;
    bool is_retryable = false;        // while this process runs
    bool is_support_unknown = false;  // whether this kernel has any
    bool has_status_page = false;     // kernels before 6.4; the page is mapped
    bool is_module = false;           // not user_events, but eventlog's own module
};

/// Opens the file in /sys/kernel/tracing or /sys/kernel/debug/tracing, or wherever else tracefs is
/// mounted, and finds out how the kernel says who listens. On failure `error` is a sentence that
/// says what to do. Where the kernel has none that costs few calls that fail. Under the registry's
/// lock; allocates nothing.
[[nodiscard]] user_events_device open_user_events(error_text& error) noexcept;

/// The same, but the device of eventlog's module comes first. Where that may not be opened, and
/// there is nothing else, `error` says so.
[[nodiscard]] user_events_device open_module_or_user_events(error_text& error) noexcept;

/// Whether user_events with words know a flag of a registration. Nothing is registered.
[[nodiscard]] bool supports_flag(int file, std::uint16_t flag) noexcept;

/// The first two numbers of a kernel's release, as uname tells it; 0 where there is none.
void read_release(const char* release, int& major, int& minor) noexcept;

/// In a list as /proc/self/mounts: the next mount point of tracefs at or behind `at`, unescaped,
/// with `name` behind it. False if there is none, or it does not fit. Moves `at` on.
[[nodiscard]] bool next_tracefs_mount(const char* mounts, std::size_t size, std::size_t& at,
                                      const char* name, char* path, std::size_t path_size) noexcept;

}  // namespace eventlog::core
