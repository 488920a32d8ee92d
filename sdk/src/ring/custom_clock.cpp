// SPDX-License-Identifier: MIT
#include "ring/custom_clock.hpp"

#include <time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <eventlog/abi.h>

#include "platform/registry_lock.hpp"
#include "platform/signal_guard.hpp"
#include "platform/time_namespace.hpp"
#include "platform/wiped_on_fork.hpp"
#include "ring/clock.hpp"
#include "ring/subscription_slots.hpp"
#include "ring/tsc_calibration.hpp"

namespace eventlog::core {
namespace {

constexpr std::int64_t second = 1'000'000'000;

// Beyond these limits wraps cannot be detected reliably.
constexpr std::uint64_t frequency_max = 10'000'000'000;
constexpr std::uint32_t bits_min = 8;
constexpr double wrap_min = 10e6;  // nanoseconds

// A clock function that emits is called for its own event, too: limits the nesting in a thread. One
// level is not enough, because a signal handler that emits may interrupt the function.
constexpr int readings_max = 2;
[[gnu::tls_model("initial-exec")]] constinit thread_local int nested_readings = 0;

using read_function = std::uint64_t (*)(void*);

/// Everything that a reading depends on. Replaced as a whole.
struct clock_state {
    read_function read = nullptr;  // nullptr: no custom clock
    void* context = nullptr;
    std::uint64_t bits = 64;
    std::int64_t frequency = 1;
    std::uint64_t first = 0;         // the custom clock's value when it was set
    std::int64_t start = 0;          // CLOCK_MONOTONIC at that time
    std::int64_t interval = second;  // between recalibrations
    // Updated by a recalibration:
    tsc_calibration calibration;  // of the processor's counter
    std::int64_t ticks = 0;       // of the custom clock since it was set
    std::int64_t ticks_at = 0;    // CLOCK_MONOTONIC at these ticks
};

constexpr std::size_t clock_state_words = sizeof(clock_state) / sizeof(std::uint64_t);
static_assert(std::is_trivially_copyable_v<clock_state> &&
              sizeof(clock_state) % sizeof(std::uint64_t) == 0);

// Two copies; the generation selects the valid one. Readers never wait for a writer, and may be
// signal handlers that interrupted one.
constinit std::array<std::array<std::atomic<std::uint64_t>, clock_state_words>, 2> state_copies{};
constinit std::atomic<std::uint32_t> clock_generation{0};
constinit bool is_set = false;  // under the registry's lock

/// A state and its generation.
struct versioned_clock_state {
    clock_state from;
    std::uint32_t generation = 0;
};

/// Word by word: a second copy would take stack from each emit.
void load_clock_state(versioned_clock_state& found) noexcept {
    auto* const bytes = reinterpret_cast<unsigned char*>(&found.from);
    do {
        found.generation = clock_generation.load(std::memory_order_acquire);
        for (std::size_t i = 0; i < clock_state_words; ++i) {
            const std::uint64_t word =
                state_copies[found.generation & 1U][i].load(std::memory_order_relaxed);
            std::memcpy(bytes + i * sizeof word, &word, sizeof word);
        }
        std::atomic_thread_fence(std::memory_order_acquire);
    } while (clock_generation.load(std::memory_order_relaxed) != found.generation);
}

/// Only the writer (has_clock_writer) calls it.
void store_clock_state(const clock_state& fresh) noexcept {
    const auto* const bytes = reinterpret_cast<const unsigned char*>(&fresh);
    const std::uint32_t next = clock_generation.load(std::memory_order_relaxed) + 1;
    // A reader that sees one of these words also sees that the previous generation has ended.
    std::atomic_thread_fence(std::memory_order_release);
    for (std::size_t i = 0; i < clock_state_words; ++i) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes + i * sizeof word, sizeof word);
        state_copies[next & 1U][i].store(word, std::memory_order_relaxed);
    }
    clock_generation.store(next, std::memory_order_release);
}

std::int64_t monotonic_now() noexcept {
    return static_cast<std::int64_t>(read_clock(EVENTLOG_CLOCK_MONOTONIC));
}

/// The ticks of an interval. Split in two parts to avoid overflow and rounding errors.
std::int64_t ticks_in(std::int64_t nanoseconds, std::int64_t frequency) noexcept {
    return nanoseconds / second * frequency +
           static_cast<std::int64_t>(static_cast<double>(nanoseconds % second) *
                                     static_cast<double>(frequency) / 1e9);
}

std::int64_t nanoseconds_in(std::int64_t ticks, std::int64_t frequency) noexcept {
    // About thirty years. Values beyond are invalid; the limit prevents overflow in later steps.
    constexpr std::int64_t seconds_max = 1'000'000'000;
    const std::int64_t seconds = std::clamp(ticks / frequency, -seconds_max, seconds_max);
    return seconds * second + static_cast<std::int64_t>(static_cast<double>(ticks % frequency) *
                                                        1e9 / static_cast<double>(frequency));
}

struct reading {
    std::int64_t ticks = 0;      // since the clock was set
    std::int64_t monotonic = 0;  // when; some milliseconds early if no wrap depends on it
    bool is_sure = true;         // whether `monotonic` belongs to `ticks`
};

/// Extends a counter of fewer than 64 bits: chooses the number of wraps that makes it nearest to
/// the value expected from CLOCK_MONOTONIC.
std::int64_t unwrapped(const clock_state& from, std::uint64_t raw,
                       std::int64_t monotonic) noexcept {
    const auto expected = static_cast<std::uint64_t>(
        from.ticks + ticks_in(monotonic - from.ticks_at, from.frequency));
    const auto unused = static_cast<unsigned>(64 - from.bits);
    const auto ahead = static_cast<std::int64_t>((raw - from.first - expected) << unused);
    return static_cast<std::int64_t>(expected) + (ahead >> unused);
}

std::uint64_t call(const clock_state& from) noexcept {
    ++nested_readings;
    const std::uint64_t raw = from.read(from.context);
    --nested_readings;
    return raw;
}

/// A value of the custom clock, CLOCK_MONOTONIC before it was read, and how long that took.
struct timed_value {
    std::uint64_t raw = 0;
    std::int64_t before = 0;
    std::int64_t took = INT64_MAX;
};

/// The fastest of several reads: at most `attempts`, until one takes less than `enough`.
timed_value call_timed(const clock_state& from, int attempts, std::int64_t enough) noexcept {
    timed_value best;
    for (int attempt = 0; attempt < attempts && best.took >= enough; ++attempt) {
        const std::int64_t before = monotonic_now();
        const std::uint64_t raw = call(from);
        const std::int64_t took = monotonic_now() - before;
        if (took < best.took) {
            best = {raw, before, took};
        }
    }
    return best;
}

reading read_program_clock(const clock_state& from) noexcept {
    if (from.bits == 64) {
        return {static_cast<std::int64_t>(call(from) - from.first),
                static_cast<std::int64_t>(coarse_monotonic_now())};
    }
    // A reading that was delayed for a good part of a wrap (virtual machines) is repeated.
    const timed_value value = call_timed(from, 8, from.interval);
    return {unwrapped(from, value.raw, value.before), value.before, value.took < from.interval};
}

bool is_recalibration_due(const clock_state& from, std::int64_t monotonic) noexcept {
    return monotonic - from.ticks_at >= from.interval;
}

/// Samples the machine's clocks and stores the custom clock's progress. False if another thread is
/// doing that or has done it. The custom clock's function is not called here, because other threads
/// cannot recalibrate meanwhile. A thread that finds an active writer pays for one load only.
[[gnu::noinline]] bool recalibrate(const versioned_clock_state& current,
                                   const reading& now) noexcept {
    if (wiped_on_fork.has_clock_writer.load(std::memory_order_relaxed)) {
        return false;
    }
    const signal_guard guard;
    if (wiped_on_fork.has_clock_writer.exchange(true, std::memory_order_acquire)) {
        return false;
    }
    const bool is_latest = clock_generation.load(std::memory_order_relaxed) == current.generation;
    if (is_latest) {
        // Not on the stack: an emit may be here.
        static constinit clock_state fresh;
        fresh = current.from;
        update_calibration(fresh.calibration, read_clock_sample(EVENTLOG_CLOCK_TSC));
        // A reading that may be off by a wrap would spoil all later ones.
        if (now.is_sure) {
            fresh.ticks = now.ticks;
            fresh.ticks_at = now.monotonic;
        }
        store_clock_state(fresh);
    }
    wiped_on_fork.has_clock_writer.store(false, std::memory_order_release);
    return is_latest;
}

/// The region's clock at a time of CLOCK_MONOTONIC.
std::uint64_t to_region_clock(const clock_state& from, std::uint32_t clock,
                              std::int64_t time) noexcept {
    return clock == EVENTLOG_CLOCK_TSC
               ? tsc_at(from.calibration, time)
               : static_cast<std::uint64_t>(std::max<std::int64_t>(time, 1));
}

/// The wrap interval of a counter of fewer than 64 bits, in nanoseconds.
double wrap_of(const eventlog_clock_source& source) noexcept {
    return static_cast<double>(std::uint64_t{1} << source.bits) * 1e9 /
           static_cast<double>(source.frequency);
}

bool is_valid(const eventlog_clock_source& source) noexcept {
    if (source.size < sizeof source || source.read == nullptr || source.bits < bits_min ||
        source.bits > 64 || source.frequency < 1 || source.frequency > frequency_max) {
        return false;
    }
    return source.bits == 64 || wrap_of(source) >= wrap_min;
}

void sleep_until(std::int64_t machine_time) noexcept {
    const std::int64_t monotonic = machine_time + own_time_offsets().monotonic;
    const timespec end{static_cast<time_t>(monotonic / second),
                       static_cast<long>(monotonic % second)};
    while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, nullptr) == EINTR) {
    }
}

/// Measures the rate of the processor's counter to some millionths. If the two halves of the
/// interval disagree, the measurement was disturbed and is repeated.
tsc_calibration measure_calibration() noexcept {
    constexpr int attempts = 4;
    tsc_calibration found;
    for (int attempt = 0; attempt < attempts; ++attempt) {
        std::array<eventlog_clock_sample, 3> pairs{};
        for (eventlog_clock_sample& pair : pairs) {
            pair = read_clock_sample(EVENTLOG_CLOCK_TSC);
            if (&pair != &pairs.back()) {
                sleep_until(static_cast<std::int64_t>(pair.monotonic) + calibration_step / 2);
            }
        }
        found = calibration_from(pairs[2], rate_between(pairs[0], pairs[2]));
        if (is_same_rate(rate_between(pairs[0], pairs[1]), rate_between(pairs[1], pairs[2]))) {
            break;
        }
    }
    return found;
}

clock_state clock_state_of(const eventlog_clock_source& source) noexcept {
    clock_state found;
    found.read = source.read;
    found.context = source.context;
    found.bits = source.bits;
    found.frequency = static_cast<std::int64_t>(source.frequency);
    found.interval = recalibration_interval;
    if (source.bits < 64) {
        found.interval = static_cast<std::int64_t>(
            std::min(wrap_of(source) / 8, static_cast<double>(recalibration_interval)));
    }
    found.calibration = measure_calibration();
    return found;
}

/// Starts the custom clock at this instant.
void start(clock_state& fresh) noexcept {
    const timed_value value = call_timed(fresh, 5, 0);
    fresh.first = value.raw;
    fresh.start = value.before + value.took / 2;
    fresh.ticks_at = fresh.start;
}

/// The lock is held for a short time only, but the holder may not be running.
void acquire_writer() noexcept {
    while (wiped_on_fork.has_clock_writer.exchange(true, std::memory_order_acquire)) {
        sleep_until(monotonic_now() + 100'000);
    }
}

}  // namespace

constinit std::int64_t recalibration_interval = second;

bool has_custom_clock() noexcept {
    return is_set;
}

std::uint64_t read_custom_clock(std::uint32_t region_clock) noexcept {
    // A reading is valid only with the state it was made with: if the state was replaced meanwhile,
    // the reading is repeated. After the last attempt the result is used anyway; it is a time of
    // one clock in any case.
    constexpr int attempts = 8;
    std::uint64_t found = 0;
    bool has_renewed = false;
    for (int attempt = 0; attempt < attempts; ++attempt) {
        versioned_clock_state current;
        load_clock_state(current);
        const clock_state& from = current.from;
        if (from.read == nullptr || nested_readings >= readings_max) {
            return read_clock(region_clock);
        }
        const reading now = read_program_clock(from);
        found = to_region_clock(from, region_clock,
                                from.start + nanoseconds_in(now.ticks, from.frequency));
        if (!has_renewed && is_recalibration_due(from, now.monotonic) && recalibrate(current, now))
            [[unlikely]] {
            has_renewed = true;
        } else if (clock_generation.load(std::memory_order_acquire) == current.generation)
            [[likely]] {
            break;
        }
    }
    return found;
}

void reset_custom_clock_writer() noexcept {
    wiped_on_fork.has_clock_writer.store(false, std::memory_order_relaxed);
}

}  // namespace eventlog::core

bool eventlog_set_clock(const eventlog_clock_source* source) {
    using namespace eventlog::core;
    if (source != nullptr && !is_valid(*source)) {
        return false;
    }
    const signal_guard guard;
    clock_state fresh;
    if (source != nullptr) {
        // Called without a lock: it sleeps and calls the program's function.
        fresh = clock_state_of(*source);
        start(fresh);
    }
    wipe_locks_on_fork();
    acquire_writer();
    const registry_lock lock;
    if (lock.held()) {
        store_clock_state(fresh);
        is_set = source != nullptr;
        update_slot_clocks();
    }
    wiped_on_fork.has_clock_writer.store(false, std::memory_order_release);
    return lock.held();
}
