// SPDX-License-Identifier: MIT
//
// The callbacks of a provider and the subscriptions that they were called for.
#pragma once

#include <linux/eventlog.h>

#include <array>
#include <atomic>
#include <cstdint>

#include "provider/callback.hpp"
#include "ring/subscription_slots.hpp"

namespace eventlog::core {

using serials_by_slot = std::array<std::uint64_t, slots_end>;

/// The subscriptions that the last look found, those reported to on_change, and those that got a
/// dump. Not on the stack, because the look attaches. Only for the running_thread.
struct listener_serials {
    serials_by_slot present{};
    serials_by_slot notified{};
    serials_by_slot dumped{};
    /// The last listener through the kernel module that got a dump; later ones have higher numbers.
    std::uint64_t dumped_in_module = 0;
};

struct notification_state {
    using change_callback = callback<void (*)(void* context, unsigned listeners)>;
    using dump_callback = callback<void (*)(void* context)>;

    change_callback on_change;
    dump_callback on_new_listener;

    /// The kernel id of the thread that runs notifications; 0: none. Taken by compare-exchange; the
    /// members below belong to that thread. Taken before a callback is read, checked after a
    /// callback is replaced, all four steps sequentially consistent: a thread that finds it 0 after
    /// a replacement knows that no thread runs the previous callback or is about to.
    std::atomic<std::uint32_t> running_thread{0};
    /// Of providers with callbacks: allocated with the first callback.
    std::atomic<listener_serials*> serials{nullptr};
    /// The generation of the on_change callback that was called last: a new callback is called,
    /// too.
    std::uint64_t notified_generation = 0;
};

}  // namespace eventlog::core
