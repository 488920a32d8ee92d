// SPDX-License-Identifier: MIT
//
// Telling an application that somebody began or stopped to listen, having it tell latecomers the
// present state, and having it leave subscriptions that have ended: without a thread of ours, from
// its own next emit.
//
// A consumer that comes or goes sets EVENTLOG_GATE_ATTENTION in the gate words of a provider that
// asked for it, and whoever ends a subscription does in all that had its bit. So the next emit, of
// whichever event of that provider, finds its gate open and comes to attend().
#pragma once

#include <linux/eventlog.h>

#include <array>
#include <atomic>
#include <cstdint>

#include "callback.hpp"

struct eventlog_provider;

namespace eventlog::core {

/// What a provider has to say when somebody comes or goes.
struct watcher {
    using change_callback = callback<void (*)(void* context, unsigned listeners)>;
    using dump_callback = callback<void (*)(void* context)>;

    change_callback on_change;
    dump_callback on_dump;

    /// The kernel's id of the thread that attends, 0: none. Taken by trying; what follows belongs
    /// to that thread. Taken before a callback is read, looked at after one is replaced, and all
    /// four steps in one order for all threads: who finds it free after a replacement knows that
    /// nobody runs the one before, or is about to.
    std::atomic<std::uint32_t> attended_by{0};
    /// The subscriptions that on_change has been told of, and those that have had a dump, by slot
    /// and serial.
    std::array<std::uint64_t, EVENTLOG_SUBSCRIPTIONS_MAX> told{};
    std::array<std::uint64_t, EVENTLOG_SUBSCRIPTIONS_MAX> dumped{};
    /// Which on_change it was that has been told: the next one is told, too.
    std::uint64_t told_generation = 0;
};

/// Has the next emit look who listens, or no longer.
void set_attention(eventlog_provider& provider, bool wanted) noexcept;

/// Whether the application has a callback that attend() would run.
[[nodiscard]] bool is_watched(const eventlog_provider& provider) noexcept;

enum class calling_back { now, at_the_next_emit };

/// Leaves what has ended, then looks who listens and calls back, if the application wants to know;
/// who may not call back now leaves that to the next emit. If another thread, or this one, is at
/// it, or the gate is that of the parent process: does nothing.
void attend(eventlog_provider& provider, calling_back callbacks) noexcept;

/// The bits of those to whom the calling thread's events of this provider go: all, but in a dump.
[[nodiscard]] std::uint32_t addressed_bits(const eventlog_provider& provider) noexcept;

}  // namespace eventlog::core
