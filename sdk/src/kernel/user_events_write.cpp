// SPDX-License-Identifier: MIT
#include "kernel/user_events_write.hpp"

#include <linux/eventlog_device.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>

#include "kernel/batch.hpp"
#include "kernel/user_events_abi.hpp"
#include "kernel/user_events_route.hpp"
#include "platform/process.hpp"
#include "platform/signal_guard.hpp"
#include "platform/system_write.hpp"
#include "provider/counters.hpp"
#include "provider/registered_provider.hpp"
#include "ring/clock.hpp"
#include "ring/gate_layout.hpp"

namespace eventlog::core {

constinit thread_count descriptor_users{};

namespace {

void count_event(const eventlog_provider& provider, route_counter which) noexcept {
    count(provider, which, EVENTLOG_COUNTERS_USER_EVENTS);
}

/// See set_module_target().
struct module_target {
    const eventlog_provider* provider = nullptr;
    std::uint64_t listener = 0;
};

[[gnu::tls_model("initial-exec")]] constinit thread_local module_target target{};

/// A batch of one event for one listener.
struct addressed_event {
    std::uint32_t batch = EVENTLOG_BATCH;
    std::uint32_t flags = EVENTLOG_BATCH_TO_LISTENER;
    std::uint64_t listener = 0;
    eventlog_batch_entry entry{};
};
static_assert(sizeof(addressed_event) == 24);

/// More than an event of C++, or of values in C, can have.
constexpr std::size_t parts_max = 256;

/// One system call: what precedes the payload, then the payload. Returns 0 or an errno.
template <std::size_t PartsMax, class Head>
[[gnu::always_inline]] inline int write_parts(int file, Head head,
                                              const event_payload& payload) noexcept {
    // Not initialized: 256 bytes for each event.
    iovec parts[PartsMax];
    parts[0] = {&head, sizeof head};
    std::size_t used = 1;
    if (payload.block != nullptr) {
        parts[used++] = {const_cast<void*>(payload.block), payload.size};
    } else {
        for (const eventlog_part& piece : payload.pieces) {
            parts[used++] = {const_cast<void*>(piece.data), piece.size};
        }
    }
    return system_writev(file, parts, used);
}

/// Out of line, so that only events of many parts use much stack.
[[gnu::noinline]] int write_many_parts(int file, std::uint32_t index,
                                       const event_payload& payload) noexcept {
    return write_parts<parts_max>(file, index, payload);
}

/// One system call, to the listener of the module's target.
template <std::size_t PartsMax>
[[gnu::always_inline]] inline int write_addressed(int file, std::uint32_t index,
                                                  const event_payload& payload) noexcept {
    return write_parts<PartsMax>(
        file,
        addressed_event{.listener = target.listener,
                        .entry = {index, static_cast<std::uint32_t>(payload.size)}},
        payload);
}

[[gnu::noinline]] int write_many_parts_to_listener(int file, std::uint32_t index,
                                                   const event_payload& payload) noexcept {
    return write_addressed<parts_max>(file, index, payload);
}

constexpr std::size_t few_parts = 16;

std::size_t count_parts(const event_payload& payload) noexcept {
    return 1 + (payload.block != nullptr ? 1 : payload.pieces.size());
}

/// Payloads up to this size, which most events have, are copied behind the number: the kernel
/// handles one part in a fifth less time than two.
constexpr std::size_t small = 256;

[[gnu::always_inline]] inline int write_small(int file, std::uint32_t index, const void* block,
                                              std::size_t size) noexcept {
    char record[sizeof index + small];  // not initialized
    std::memcpy(record, &index, sizeof index);
    std::memcpy(record + sizeof index, block, size);
    return system_write(file, record, sizeof index + size);
}

[[gnu::always_inline]] inline int write_payload(const user_events_route& route, int file,
                                                std::uint32_t index,
                                                const event_payload& payload) noexcept {
    if (payload.size == 0) {
        // Kernels with a page reject events without payload. No field refers to that byte.
        return write_small(file, index, "", route.status_locations.load(payload.event) != 0);
    }
    if (payload.block != nullptr && payload.size <= small) {
        return write_small(file, index, payload.block, payload.size);
    }
    const std::size_t parts = count_parts(payload);
    if (parts <= few_parts) {
        return write_parts<few_parts>(file, index, payload);
    }
    return parts <= parts_max ? write_many_parts(file, index, payload) : E2BIG;
}

/// Out of line: dumps are rare.
[[gnu::noinline]] int write_to_listener(int file, std::uint32_t index,
                                        const event_payload& payload) noexcept {
    const std::size_t parts = count_parts(payload);
    if (parts <= few_parts) {
        return write_addressed<few_parts>(file, index, payload);
    }
    return parts <= parts_max ? write_many_parts_to_listener(file, index, payload) : E2BIG;
}

enum class write_outcome {
    settled,  // written, counted, or not wanted any more
    gone,     // the descriptor is another file, or closed
};

/// Compares the file at intervals, see user_events_route.hpp.
bool is_probably_own_descriptor(user_events_route& route, int file) noexcept {
    const std::uint64_t now = ticks();
    if (now - route.verified_at.load(std::memory_order_relaxed) < descriptor_check_ticks)
        [[likely]] {
        return true;
    }
    const bool is_own = is_own_descriptor(route, file);
    if (is_own) {
        route.verified_at.store(now, std::memory_order_relaxed);
    }
    return is_own;
}

void note_written(const eventlog_provider& provider, const event_payload& payload) noexcept {
    count_event(provider, &eventlog_route_counters::written);
    if ((payload.flags & EVENTLOG_RECORD_TRUNCATED) != 0) {
        count_event(provider, &eventlog_route_counters::truncated);
    }
}

[[gnu::noinline]] write_outcome handle_write_error(eventlog_provider& provider, int file,
                                                   int error) noexcept {
    if (error == EBADF || error == ENOENT) {
        if (!is_own_descriptor(provider.user_events, file)) {
            return write_outcome::gone;
        }
        if (error == EBADF) {
            // The listener has stopped since the gate was read.
            return write_outcome::settled;
        }
    }
    count_event(provider, &eventlog_route_counters::lost_refused);
    return write_outcome::settled;
}

[[gnu::always_inline]] inline write_outcome try_to_write(eventlog_provider& provider,
                                                         const event_payload& payload) noexcept {
    user_events_route& route = provider.user_events;
    const thread_count::user keeps_open(descriptor_users);
    const int file = route.file.load(std::memory_order_seq_cst);
    const std::uint32_t number = route.numbers.load(payload.event, std::memory_order_acquire);
    if (file < 0 || !user_events_route::is_registered(number)) [[unlikely]] {
        // With an event that is not registrable another actor has set the bit, not the kernel.
        const bool is_final = file >= 0 && number == user_events_route::not_registrable;
        return is_final ? write_outcome::settled : write_outcome::gone;
    }
    write_outcome result = write_outcome::gone;
    if (is_probably_own_descriptor(route, file)) {
        const int error = target.provider == &provider
                              ? write_to_listener(file, number - 1, payload)
                              : write_payload(route, file, number - 1, payload);
        if (error == 0) [[likely]] {
            note_written(provider, payload);
            return write_outcome::settled;
        }
        result = handle_write_error(provider, file, error);
    }
    if (result == write_outcome::gone) {
        abandon_descriptor(route, file);
    }
    return result;
}

}  // namespace

bool try_small_to_user_events(eventlog_provider& provider, std::uint32_t event, const void* block,
                              std::size_t size) noexcept {
    user_events_route& route = provider.user_events;
    if (size - 1 >= small || current_batch != nullptr ||
        !route.expected.load(std::memory_order_relaxed)) {
        return false;
    }
    const thread_count::user keeps_open(descriptor_users);
    const int file = route.file.load(std::memory_order_seq_cst);
    const std::uint32_t number = route.numbers.load(event, std::memory_order_acquire);
    if (file < 0 || !user_events_route::is_registered(number) ||
        !is_probably_own_descriptor(route, file) || write_small(file, number - 1, block, size) != 0)
        [[unlikely]] {
        return false;
    }
    count_event(provider, &eventlog_route_counters::written);
    return true;
}

bool emit_to_user_events(eventlog_provider& provider, const event_payload& payload) noexcept {
    user_events_route& route = provider.user_events;
    if (!route.expected.load(std::memory_order_relaxed)) {
        return true;  // the bit was not set by the kernel
    }
    if (payload.size > user_events_payload_max) {
        count_event(provider, &eventlog_route_counters::lost_too_large);
        return true;
    }
    if (current_batch != nullptr && target.provider != &provider &&
        append_to_batch(provider, payload)) {
        return true;
    }
    return try_to_write(provider, payload) != write_outcome::gone;
}

void emit_again_to_user_events(eventlog_provider& provider, const event_payload& payload) noexcept {
    if (try_to_write(provider, payload) == write_outcome::gone) {
        count_event(provider, &eventlog_route_counters::lost_unattached);
    }
}

void set_module_target(const eventlog_provider* provider, std::uint64_t listener) noexcept {
    target = {provider, listener};
}

std::uint64_t next_module_listener(const eventlog_provider& provider,
                                   std::uint64_t after) noexcept {
    const errno_guard keeps_errno;
    const user_events_route& route = provider.user_events;
    const thread_count::user keeps_open(descriptor_users);
    const int file = route.file.load(std::memory_order_seq_cst);
    eventlog_listener_query query{};
    query.size = sizeof query;
    query.provider = route.published.load(std::memory_order_relaxed);
    query.listener = after;
    const bool found = query.provider != 0 && file >= 0 && is_own_descriptor(route, file) &&
                       ::ioctl(file, EVENTLOG_NEXT_LISTENER, &query) == 0;
    return found ? query.listener : 0;
}

bool is_own_descriptor(const user_events_route& route, int file) noexcept {
    const errno_guard keeps_errno;
    struct stat status {};
    return ::fstat(file, &status) == 0 &&
           status.st_dev == route.device.load(std::memory_order_relaxed) &&
           status.st_ino == route.inode.load(std::memory_order_relaxed);
}

void abandon_descriptor(user_events_route& route, int file) noexcept {
    if (route.file.compare_exchange_strong(file, -1, std::memory_order_seq_cst)) {
        route.not_before.store(0, std::memory_order_relaxed);
    }
}

}  // namespace eventlog::core
