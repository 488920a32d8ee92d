// SPDX-License-Identifier: MIT
//
// The device of eventlog's kernel module, which speaks as user_events do (user_events_abi.hpp) and
// has the events in tracefs as eventlog:PROVIDER_EVENT.
#pragma once

#include "platform/unique_fd.hpp"

namespace eventlog::core {

inline constexpr const char* eventlog_device_path = "/dev/eventlog";

/// Whether it is there, permitted or not. One system call; leaves errno as it is.
[[nodiscard]] bool has_eventlog_device() noexcept;

/// Opens it, close-on-exec. On failure `error` is an errno: ENOENT where the module is not loaded.
[[nodiscard]] unique_fd open_eventlog_device(int& error) noexcept;

}  // namespace eventlog::core
