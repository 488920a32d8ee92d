// SPDX-License-Identifier: MIT
//
// Requests snapshots of flight recorders: see "Asking for a snapshot" in linux/eventlog.h. All
// functions are async-signal-safe.
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>

#include <eventlog/abi.h>

#include "platform/data_reader.hpp"
#include "platform/signal_guard.hpp"
#include "ring/snapshot_reason.hpp"
#include "ring/subscription_slots.hpp"

namespace eventlog::core {
namespace {

/// False if the subscription is not, or not any more, a flight recorder.
bool request_snapshot(eventlog_region& region, const reason_words& reason) noexcept {
    constexpr std::uint32_t recorder = EVENTLOG_FEATURE_OVERWRITE | EVENTLOG_FEATURE_DETACHED;
    // A paused flight recorder still has the events from before.
    if (is_end_state(shared(region.state).load(std::memory_order_relaxed)) ||
        (shared(region.features).load(std::memory_order_relaxed) & recorder) != recorder) {
        return false;
    }
    const std::uint32_t ticket =
        shared(region.snapshot_tickets).fetch_add(1, std::memory_order_relaxed) + 1;
    store_reason(region, reason, ticket);
    // Release: a reader that sees the request also sees its reason and all records of this thread.
    shared(region.snapshots_requested).fetch_add(1, std::memory_order_release);
    static_cast<void>(::syscall(SYS_futex, &region.snapshots_requested, FUTEX_WAKE, INT_MAX,
                                nullptr, nullptr, 0));
    return true;
}

}  // namespace
}  // namespace eventlog::core

unsigned eventlog_request_snapshot(const char* reason) {
    using namespace eventlog::core;
    const errno_guard keeps_errno;
    // The regions of a process that has gained rights stay mapped until it needs a buffer.
    if (!may_be_read()) {
        return 0;
    }
    const reason_words words = pack_reason(reason);
    unsigned asked = 0;
    for (subscription_slot& slot : subscription_slots) {
        const std::uint64_t serial = slot.serial.load(std::memory_order_acquire);
        if (serial == 0 || !slot.overwrites.load(std::memory_order_relaxed)) {
            continue;
        }
        const slot_user user(slot, serial);
        if (user.holds() && request_snapshot(*slot.region(), words)) {
            ++asked;
        }
    }
    return asked;
}
