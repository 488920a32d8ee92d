// SPDX-License-Identifier: MIT
//
// The device of the kernel module, which has the interface of user_events (user_events_abi.hpp).
// Its events are in tracefs as eventlog:PROVIDER_EVENT.
#pragma once

#include "platform/unique_fd.hpp"

namespace eventlog::core {

inline constexpr const char* eventlog_device_path = "/dev/eventlog";

/// Whether it exists, accessible or not. One system call; leaves errno unchanged.
[[nodiscard]] bool has_eventlog_device() noexcept;

/// Opens it, close-on-exec. On failure `error` is an errno; ENOENT if the module is not loaded.
[[nodiscard]] unique_fd open_eventlog_device(int& error) noexcept;

}  // namespace eventlog::core
