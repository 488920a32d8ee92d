// SPDX-License-Identifier: MIT
//
// Memory of providers: instances are never freed, and reused late.
//
// All functions require the registry lock, except in a forked child, where no other thread runs.
#pragma once

#include "provider/registered_provider.hpp"

namespace eventlog::core {

/// A new instance, or one that is free and that no thread uses. nullptr without memory.
[[nodiscard]] eventlog_provider* take_instance() noexcept;

/// Gives back an instance that was not registered.
void return_instance(eventlog_provider& provider) noexcept;

/// Appends a withdrawn provider to the free ones: the instance that was withdrawn first is reused
/// first.
void retire_instance(eventlog_provider& provider) noexcept;

/// Called while no other thread runs notifications.
void reset_notifications(eventlog_provider& provider) noexcept;

/// The same in a forked child. A callback of the thread that has forked goes on there, under the
/// thread's new id: no other thread may run one meanwhile.
void reset_notifications_in_child(eventlog_provider& provider,
                                  std::uint32_t parent_thread) noexcept;
void clear_callbacks(eventlog_provider& provider) noexcept;

}  // namespace eventlog::core
