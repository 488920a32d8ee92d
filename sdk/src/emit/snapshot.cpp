// SPDX-License-Identifier: MIT
//
// Requests snapshots of flight recorders: see "Asking for a snapshot" in linux/eventlog.h. All
// functions are async-signal-safe.
#include <atomic>
#include <cstdint>

#include <eventlog/abi.h>

#include "platform/data_reader.hpp"
#include "platform/signal_guard.hpp"
#include "ring/snapshot_reason.hpp"
#include "ring/subscription_slots.hpp"

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
        const std::uint64_t mapping = slot.mapping.load(std::memory_order_acquire);
        if (mapping == 0 || !slot.overwrites.load(std::memory_order_relaxed)) {
            continue;
        }
        const slot_user user(slot, mapping);
        if (user.holds() && request_snapshot(*slot.region(), words)) {
            ++asked;
        }
    }
    return asked;
}
