// SPDX-License-Identifier: MIT
//
// Telling an application that somebody began or stopped to listen, and having it tell latecomers
// the present state: without a thread of ours, from its own next emit.
//
// A consumer that comes or goes sets EVENTLOG_GATE_ATTENTION in the gate words of a provider that
// asked for it. So the next emit, of whichever event, finds its gate open and comes to attend().
#pragma once

#include <linux/eventlog.h>

#include <array>
#include <atomic>
#include <cstdint>

struct eventlog_provider;

namespace eventlog::core {

/// What a provider has to say when somebody comes or goes.
struct watcher {
    using change_callback = void (*)(void* context, unsigned listeners);
    using dump_callback = void (*)(void* context);

    std::atomic<change_callback> on_change{nullptr};
    std::atomic<void*> change_context{nullptr};
    std::atomic<dump_callback> on_dump{nullptr};
    std::atomic<void*> dump_context{nullptr};

    /// Held, by trying, by the thread that attends; what follows belongs to it.
    std::atomic<bool> attending{false};
    /// The subscriptions that on_change has been told of, and those that have had a dump, by slot
    /// and serial.
    std::array<std::uint64_t, EVENTLOG_SUBSCRIPTIONS_MAX> told{};
    std::array<std::uint64_t, EVENTLOG_SUBSCRIPTIONS_MAX> dumped{};
};

/// Has the next emit look who listens, or no longer.
void set_attention(eventlog_provider& provider, bool wanted) noexcept;

/// Looks who listens, and calls back. If another thread, or this one, is at it: does nothing.
void attend(eventlog_provider& provider) noexcept;

/// The bits of those to whom the calling thread's events of this provider go: all, but in a dump.
[[nodiscard]] std::uint32_t addressed_bits(const eventlog_provider& provider) noexcept;

}  // namespace eventlog::core
