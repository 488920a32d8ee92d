// SPDX-License-Identifier: MIT
//
// A thread's lane, see eventlog_lane_begin (abi.h): events for the kernel's module, collected for
// one write.
//
//   room of the caller ->  | lane | batch header | entry, payload | entry, payload | ...   |
//                                                                                  ^ used
//
// What stands there is what is written: EVENTLOG_BATCH of linux/eventlog_device.h with the time of
// each event. The events are all of one provider, since each has a file of its own: another one's
// event first has the others written.
//
// Only the thread itself and signal handlers that interrupt it come here. `busy` says that somebody
// is at it: then a handler's event takes the ordinary way, a write of its own. A forked child has a
// copy, which discard_batch() empties: the events are its parent's. (A step in whose midst a
// handler has forked does not go on in the child, see eventlog(7). If it did, it would stay within
// the room, and might write again what the parent has.)
#pragma once

#include <linux/eventlog_device.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "ring/ring_writer.hpp"

struct eventlog_provider;

namespace eventlog::core {

/// What a batch begins with.
inline constexpr std::uint32_t batch_header[] = {EVENTLOG_BATCH, EVENTLOG_BATCH_TIMED};

struct batch {
    std::atomic<bool> busy{false};
    eventlog_provider* provider = nullptr;  // whose events these are, or were
    std::uint32_t withdrawals = 0;          // of its place, when the first of them came
    std::uint32_t generation = 0;           // of its route, when the first of them came
    int file = -1;
    std::uint32_t entries = 0;
    std::size_t used = 0;  // of the bytes
    std::span<std::uint8_t> bytes{};
};

/// The calling thread's; null: none. initial-exec: reading it never allocates.
[[gnu::tls_model("initial-exec"),
  gnu::visibility("hidden")]] extern constinit thread_local batch* current_batch;

/// Puts an event that the kernel's module is to get into the calling thread's lane, which is there.
/// False if it has to be written by itself. Async-signal-safe; leaves errno as it is.
[[nodiscard]] bool append_to_batch(eventlog_provider& provider,
                                   const event_payload& payload) noexcept;

/// Writes what the calling thread has collected, if it is that provider's. Async-signal-safe.
void write_batch_of(const eventlog_provider& provider) noexcept;

/// In a forked child, whose copy of the lane is its parent's.
void discard_batch() noexcept;

}  // namespace eventlog::core
