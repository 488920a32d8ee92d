// SPDX-License-Identifier: MIT
#include "kernel/batch.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include <eventlog/abi.h>

#include "kernel/user_events_write.hpp"
#include "platform/process.hpp"
#include "platform/signal_guard.hpp"
#include "platform/system_write.hpp"
#include "provider/counters.hpp"
#include "provider/registered_provider.hpp"
#include "ring/clock.hpp"
#include "ring/gate_layout.hpp"

namespace eventlog::core {

constinit thread_local batch* current_batch = nullptr;

namespace {

/// Limit of one write: larger batches save little and delay events.
constexpr std::size_t batch_max = 65536;
static_assert(batch_max <= EVENTLOG_BATCH_SIZE_MAX);

constexpr std::size_t padded(std::size_t size) noexcept {
    return (size + EVENTLOG_RECORD_ALIGNMENT - 1) / EVENTLOG_RECORD_ALIGNMENT *
           EVENTLOG_RECORD_ALIGNMENT;
}

constexpr std::size_t size_of_entry(std::size_t payload_size) noexcept {
    return padded(sizeof(eventlog_timed_entry) + payload_size);
}

/// Marks the batch as in use. Not held() if this thread, or a signal handler's interrupted code,
/// uses it already.
class batch_user {
  public:
    explicit batch_user(batch& used) noexcept
        : batch_(used), held_(!used.busy.load(std::memory_order_relaxed)) {
        if (held_) {
            used.busy.store(true, std::memory_order_relaxed);
            std::atomic_signal_fence(std::memory_order_seq_cst);
        }
    }
    ~batch_user() {
        if (held_) {
            std::atomic_signal_fence(std::memory_order_seq_cst);
            batch_.busy.store(false, std::memory_order_relaxed);
        }
    }
    batch_user(const batch_user&) = delete;
    batch_user& operator=(const batch_user&) = delete;

    [[nodiscard]] bool held() const noexcept { return held_; }

  private:
    batch& batch_;
    bool held_;
};

void empty(batch& own) noexcept {
    own.entries = 0;
    own.used = sizeof batch_header;
}

/// Counts the outcome of events, unless the provider was withdrawn since: its counts are discarded
/// then, and the handle may be another provider's.
void count_events(const batch& own, route_counter counter, std::uint32_t many) noexcept {
    if (own.provider->user_events.withdrawals.load(std::memory_order_acquire) == own.withdrawals) {
        count(*own.provider, counter, EVENTLOG_COUNTERS_USER_EVENTS, many);
    }
}

/// The number of entries in these bytes, which start with one.
std::uint32_t count_entries(const std::uint8_t* bytes, std::size_t size) noexcept {
    std::uint32_t entries = 0;
    for (std::size_t at = 0; at < size; ++entries) {
        eventlog_timed_entry entry{};
        std::memcpy(&entry, bytes + at, sizeof entry);
        at += size_of_entry(entry.size);
    }
    return entries;
}

/// Writes what is left behind `begin`; its header overwrites bytes that are already written.
/// Returns the number of bytes taken, or the error of the first entry.
long write_from(const batch& own, std::size_t begin) noexcept {
    std::uint8_t* const from = own.bytes.data() + begin - sizeof batch_header;
    std::memcpy(from, batch_header, sizeof batch_header);
    const long result =
        system_call_on_file(SYS_write, own.file, from, own.used - begin + sizeof batch_header);
    return result < 0 ? result : std::max(result - static_cast<long>(sizeof batch_header), 0L);
}

/// Whether the error concerns the first entry only, so that the next ones can be written.
bool is_entry_error(long result) noexcept {
    return result == -EINVAL || result == -E2BIG || result == -ENOENT || result == -EFAULT;
}

/// Writes the batch and counts the outcome of its events.
void write_all(const batch& own) noexcept {
    std::size_t begin = sizeof batch_header;
    std::uint32_t left = own.entries;
    // Bounded by both: another file under this descriptor number may return any result.
    while (left != 0 && begin < own.used) {
        const long result = write_from(own, begin);
        const std::uint8_t* const first = own.bytes.data() + begin;
        if (result > 0) {
            const auto taken = static_cast<std::size_t>(result);
            const std::uint32_t written = std::min(count_entries(first, taken), left);
            count_events(own, &eventlog_route_counters::written, written);
            left -= written;
            begin += padded(taken);
        } else if (is_entry_error(result)) {
            eventlog_timed_entry entry{};
            std::memcpy(&entry, first, sizeof entry);
            count_events(own, &eventlog_route_counters::lost_refused, 1);
            --left;
            begin += size_of_entry(entry.size);
        } else {
            break;
        }
    }
    if (left != 0) {
        count_events(own, &eventlog_route_counters::lost_refused, left);
    }
}

/// Whether the route is unchanged since the first event of the batch.
bool is_same_route(const batch& own) noexcept {
    user_events_route& route = own.provider->user_events;
    if (route.file.load(std::memory_order_seq_cst) != own.file ||
        route.generation.load(std::memory_order_acquire) != own.generation) {
        return false;
    }
    if (!is_own_descriptor(route, own.file)) {
        abandon_descriptor(route, own.file);
        return false;
    }
    return true;
}

/// Writes and empties the batch. Precondition: the caller holds the batch_user.
void write_batch(batch& own) noexcept {
    if (own.entries != 0) {
        const thread_count::user keeps_open(descriptor_users);
        if (is_same_route(own)) {
            write_all(own);
        } else {
            count_events(own, &eventlog_route_counters::lost_unattached, own.entries);
        }
        empty(own);
    }
}

/// The destination of an event.
struct batch_target {
    int file = -1;
    std::uint32_t withdrawals = 0;
    std::uint32_t generation = 0;
    std::uint32_t number = user_events_route::not_registered;

    bool operator==(const batch_target&) const = default;
};

/// The event's current destination; none if it cannot be written in batches.
std::optional<batch_target> find_batch_target(const eventlog_provider& provider,
                                              std::uint32_t event) noexcept {
    const user_events_route& route = provider.user_events;
    batch_target found;
    found.withdrawals = route.withdrawals.load(std::memory_order_acquire);
    found.generation = route.generation.load(std::memory_order_acquire);
    found.file = route.file.load(std::memory_order_seq_cst);
    found.number = route.numbers.load(event, std::memory_order_acquire);
    const bool is_one = found.file >= 0 && route.takes_batches.load(std::memory_order_relaxed) &&
                        user_events_route::is_registered(found.number) &&
                        route.generation.load(std::memory_order_acquire) == found.generation;
    return is_one ? std::optional(found) : std::nullopt;
}

/// Whether an event of that size can be added to the entries of the batch.
bool fits(const batch& own, const eventlog_provider& provider, const batch_target& to,
          std::size_t size) noexcept {
    return own.provider == &provider && own.generation == to.generation && own.file == to.file &&
           size <= own.bytes.size() - own.used;
}

/// Adds an entry. Precondition: there is room.
void append(batch& own, std::uint32_t number, std::uint64_t time,
            const event_payload& payload) noexcept {
    const eventlog_timed_entry entry = {
        .write_index = number - 1, .size = static_cast<std::uint32_t>(payload.size), .time = time};
    std::uint8_t* const to = own.bytes.data() + own.used;
    std::memcpy(to, &entry, sizeof entry);
    copy_payload(to + sizeof entry, payload);
    std::memset(to + sizeof entry + payload.size, 0, padded(payload.size) - payload.size);
}

/// The part of the caller's memory for entries; empty if it is too small.
std::span<std::uint8_t> batch_storage(batch* own, std::size_t room) noexcept {
    // Room for one entry of a usual size is the minimum.
    constexpr std::size_t least = sizeof batch_header + size_of_entry(256);
    if (room < least) {
        return {};
    }
    const std::size_t size =
        std::min(room, batch_max) / EVENTLOG_RECORD_ALIGNMENT * EVENTLOG_RECORD_ALIGNMENT;
    return {reinterpret_cast<std::uint8_t*>(own + 1), size};
}
static_assert(sizeof(batch) % EVENTLOG_RECORD_ALIGNMENT == 0);

}  // namespace

bool append_to_batch(eventlog_provider& provider, const event_payload& payload) noexcept {
    batch& own = *current_batch;
    const batch_user user(own);
    if (!user.held()) {
        return false;
    }
    // Read before pending entries are written, which takes longer.
    const std::uint64_t time = read_clock(EVENTLOG_CLOCK_MONOTONIC);
    const std::size_t size = size_of_entry(payload.size);
    const std::optional<batch_target> to = find_batch_target(provider, payload.event);
    // A truncated event is written alone, where it is counted as truncated.
    const bool goes_alone = !to || (payload.flags & EVENTLOG_RECORD_TRUNCATED) != 0;
    if (own.entries != 0 && (goes_alone || !fits(own, provider, *to, size))) {
        // Keeps the order: earlier events are written first, whether or not this one joins a batch.
        write_batch(own);
        if (to && find_batch_target(provider, payload.event) != to) {
            return false;
        }
    }
    if (goes_alone || size > own.bytes.size() - own.used) {
        return false;
    }
    append(own, to->number, time, payload);
    own.provider = &provider;
    own.withdrawals = to->withdrawals;
    own.generation = to->generation;
    own.file = to->file;
    own.used += size;
    ++own.entries;
    return true;
}

void write_batch_of(const eventlog_provider& provider) noexcept {
    if (current_batch != nullptr && current_batch->provider == &provider) {
        eventlog_kernel_batch_flush();
    }
}

void discard_batch() noexcept {
    if (current_batch != nullptr) {
        empty(*current_batch);
        current_batch->busy.store(false, std::memory_order_relaxed);
    }
}

}  // namespace eventlog::core

bool eventlog_kernel_batch_begin(void* room, std::size_t size) {
    using namespace eventlog::core;
    void* place = room;
    if (room == nullptr || current_batch != nullptr ||
        std::align(alignof(batch), sizeof(batch), place, size) == nullptr) {
        return false;
    }
    auto* own = new (place) batch;
    own->bytes = batch_storage(own, size - sizeof(batch));
    if (own->bytes.empty()) {
        return false;
    }
    empty(*own);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    current_batch = own;
    return true;
}

void eventlog_kernel_batch_flush(void) {
    using namespace eventlog::core;
    // In a child created without fork() the batch is the parent's, perhaps in memory shared with
    // it.
    if (current_batch != nullptr && current_batch->entries != 0 && is_own_process()) {
        const signal_guard guard;
        const batch_user user(*current_batch);
        if (user.held()) {
            write_batch(*current_batch);
        }
    }
}

void eventlog_kernel_batch_end(void) {
    using namespace eventlog::core;
    if (current_batch == nullptr || !is_own_process()) {
        return;
    }
    const signal_guard guard;
    batch& own = *std::exchange(current_batch, nullptr);
    const batch_user user(own);
    if (user.held()) {
        write_batch(own);
    } else if (own.entries != 0) {
        // A handler has left a write by longjmp(): some of these events may have been written.
        count_events(own, &eventlog_route_counters::lost_busy, own.entries);
    }
}
