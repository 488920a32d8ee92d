// SPDX-License-Identifier: MIT
//
// The batch of a thread's batch, see eventlog_kernel_batch_begin (abi.h): events for the kernel
// module, collected for one write.
//
//     the caller's memory -> | batch | header | entry, payload | entry, payload | ...   |
//                                                                               ^ used
//
// The bytes behind the batch are written as they are: EVENTLOG_BATCH of linux/eventlog_device.h
// with the time of each event. All events are of one provider, because each provider has its own
// descriptor: an event of another provider first writes the pending ones.
//
// Allowed contexts: the thread itself and signal handlers that interrupt it. `busy` marks a batch
// in use; a handler that finds it set writes its event alone. A forked child has a copy, which
// discard_batch() empties, because the events are the parent's. (If a handler forks inside a step,
// the step must not continue in the child, see eventlog(7). If it does, it stays within the memory,
// and may write events again that the parent has written.)
#pragma once

#include <linux/eventlog_device.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "ring/ring_writer.hpp"

struct eventlog_provider;

namespace eventlog::core {

/// The start of a batch.
inline constexpr std::uint32_t batch_header[] = {EVENTLOG_BATCH, EVENTLOG_BATCH_TIMED};

struct batch {
    std::atomic<bool> busy{false};
    eventlog_provider* provider = nullptr;  // of the events in the batch, or of the last ones
    std::uint32_t withdrawals = 0;          // of the provider when the first event was added
    std::uint32_t generation = 0;           // of the route when the first event was added
    int file = -1;
    std::uint32_t entries = 0;
    std::size_t used = 0;  // of `bytes`
    std::span<std::uint8_t> bytes{};
};

/// The calling thread's batch; nullptr: none. initial-exec: reading it never allocates.
[[gnu::tls_model("initial-exec"),
  gnu::visibility("hidden")]] extern constinit thread_local batch* current_batch;

/// Adds an event for the kernel module to the calling thread's batch, which must exist. False if
/// the caller has to write the event alone. Async-signal-safe; leaves errno unchanged.
[[nodiscard]] bool append_to_batch(eventlog_provider& provider,
                                   const event_payload& payload) noexcept;

/// Writes the calling thread's batch if its events are of that provider. Async-signal-safe.
void write_batch_of(const eventlog_provider& provider) noexcept;

/// Called in a forked child, whose copy of the batch is the parent's.
void discard_batch() noexcept;

}  // namespace eventlog::core
