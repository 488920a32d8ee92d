// SPDX-License-Identifier: MIT
//
// The callbacks of a provider, and which subscriptions they have been called for.
#pragma once

#include <linux/eventlog.h>

#include <array>
#include <atomic>
#include <cstdint>

#include "provider/callback.hpp"

namespace eventlog::core {

struct notification_state {
    using change_callback = callback<void (*)(void* context, unsigned listeners)>;
    using dump_callback = callback<void (*)(void* context)>;

    change_callback on_change;
    dump_callback on_dump;

    /// The kernel's id of the thread that attends, 0: none. Taken by trying; what follows belongs
    /// to that thread. Taken before a callback is read, looked at after one is replaced, and all
    /// four steps in one order for all threads: who finds it free after a replacement knows that
    /// nobody runs the one before, or is about to.
    std::atomic<std::uint32_t> running_thread{0};
    /// The subscriptions that on_change has been told of, and those that have had a dump, by slot
    /// and serial.
    std::array<std::uint64_t, EVENTLOG_SUBSCRIPTIONS_MAX> notified{};
    std::array<std::uint64_t, EVENTLOG_SUBSCRIPTIONS_MAX> dumped{};
    /// Which on_change it was that has been told: the next one is told, too.
    std::uint64_t notified_generation = 0;
};

}  // namespace eventlog::core
