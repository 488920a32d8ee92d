// SPDX-License-Identifier: MIT
#include "ring/custom_clock.hpp"

#include <time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include <eventlog/abi.h>

#include "platform/registry_lock.hpp"
#include "platform/signal_guard.hpp"
#include "ring/clock.hpp"
#include "ring/subscription_slots.hpp"
#include "ring/tsc_calibration.hpp"

namespace eventlog::core {
namespace {

constexpr std::int64_t second = 1'000'000'000;

// More ticks a second, or an earlier wrap, cannot be told apart reliably.
constexpr std::uint64_t frequency_max = 10'000'000'000;
constexpr std::uint32_t bits_min = 8;
constexpr double wrap_min = 10e6;  // nanoseconds

// A program's function that emits is called for that event, too: in a thread not more often than so
// at once. Once is not enough, as a signal handler that emits may interrupt it.
constexpr int readings_max = 2;
[[gnu::tls_model("initial-exec")]] constinit thread_local int nested_readings = 0;

using read_function = std::uint64_t (*)(void*);

/// All that a reading is made of. It is replaced as a whole.
struct clock_state {
    read_function read = nullptr;  // none: the machine's clock
    void* context = nullptr;
    std::uint64_t bits = 64;
    std::int64_t frequency = 1;
    std::uint64_t first = 0;         // what the program's clock said when it was set
    std::int64_t start = 0;          // CLOCK_MONOTONIC then
    std::int64_t interval = second;  // so often the rest is brought up to date:
    tsc_calibration calibration;     // the machine's counter
    // and how far the program's clock had got, when.
    std::int64_t ticks = 0;
    std::int64_t ticks_at = 0;
};

using clock_state_words = std::array<std::uint64_t, sizeof(clock_state) / sizeof(std::uint64_t)>;

// Two of them, of which the generation says which one counts: readers never wait for a writer, and
// may be signal handlers that have interrupted one.
constinit std::array<std::array<std::atomic<std::uint64_t>, clock_state_words{}.size()>, 2>
    state_copies{};
constinit std::atomic<std::uint32_t> clock_generation{0};
constinit std::atomic<bool> has_writer{false};
constinit bool is_set = false;  // under the registry's lock

/// The basis, and which generation of it.
struct versioned_clock_state {
    clock_state from;
    std::uint32_t generation = 0;
};

versioned_clock_state load_clock_state() noexcept {
    for (;;) {
        const std::uint32_t before = clock_generation.load(std::memory_order_acquire);
        clock_state_words words{};
        for (std::size_t i = 0; i < words.size(); ++i) {
            words[i] = state_copies[before & 1U][i].load(std::memory_order_relaxed);
        }
        std::atomic_thread_fence(std::memory_order_acquire);
        if (clock_generation.load(std::memory_order_relaxed) == before) {
            return {std::bit_cast<clock_state>(words), before};
        }
    }
}

/// By who has become the writer.
void store_clock_state(const clock_state& fresh) noexcept {
    const auto words = std::bit_cast<clock_state_words>(fresh);
    const std::uint32_t next = clock_generation.load(std::memory_order_relaxed) + 1;
    // Who sees a word of these sees that the generation before has gone.
    std::atomic_thread_fence(std::memory_order_release);
    for (std::size_t i = 0; i < words.size(); ++i) {
        state_copies[next & 1U][i].store(words[i], std::memory_order_relaxed);
    }
    clock_generation.store(next, std::memory_order_release);
}

std::int64_t monotonic_now() noexcept {
    return static_cast<std::int64_t>(read_clock(EVENTLOG_CLOCK_MONOTONIC));
}

/// Ticks in so many nanoseconds. In two parts, so that neither overflows nor is rounded much.
std::int64_t ticks_in(std::int64_t nanoseconds, std::int64_t frequency) noexcept {
    return nanoseconds / second * frequency +
           static_cast<std::int64_t>(static_cast<double>(nanoseconds % second) *
                                     static_cast<double>(frequency) / 1e9);
}

std::int64_t nanoseconds_in(std::int64_t ticks, std::int64_t frequency) noexcept {
    // Thirty years: what is beyond is no time, and nothing that follows must overflow.
    constexpr std::int64_t seconds_max = 1'000'000'000;
    const std::int64_t seconds = std::clamp(ticks / frequency, -seconds_max, seconds_max);
    return seconds * second + static_cast<std::int64_t>(static_cast<double>(ticks % frequency) *
                                                        1e9 / static_cast<double>(frequency));
}

struct reading {
    std::int64_t ticks = 0;      // since the clock was set
    std::int64_t monotonic = 0;  // when, a little late if nobody has to know it well
    bool is_sure = true;         // that it was then
};

/// A counter of fewer than 64 bits has wrapped as often as brings it nearest to where the machine's
/// clock says that it should be.
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

reading read_program_clock(const clock_state& from) noexcept {
    if (from.bits == 64) {
        return {static_cast<std::int64_t>(call(from) - from.first),
                static_cast<std::int64_t>(coarse_monotonic_now())};
    }
    // Held up in between for a good part of a wrap, as virtual machines are, it is read again.
    constexpr int attempts = 8;
    reading found;
    std::int64_t least = INT64_MAX;
    for (int attempt = 0; attempt < attempts && least >= from.interval; ++attempt) {
        const std::int64_t before = monotonic_now();
        const std::uint64_t raw = call(from);
        const std::int64_t took = monotonic_now() - before;
        if (took < least) {
            least = took;
            found = {unwrapped(from, raw, before), before, took < from.interval};
        }
    }
    return found;
}

bool is_recalibration_due(const clock_state& from, std::int64_t monotonic) noexcept {
    return monotonic - from.ticks_at >= from.interval;
}

/// Reads the machine's clocks anew, and notes how far the program's has got. False if somebody else
/// is doing it or has done it. The program's function is not called while others cannot do it, and
/// who sees that somebody does it pays for no more than that.
[[gnu::noinline]] bool recalibrate(const versioned_clock_state& current,
                                   const reading& now) noexcept {
    if (has_writer.load(std::memory_order_relaxed)) {
        return false;
    }
    const signal_guard guard;
    if (has_writer.exchange(true, std::memory_order_acquire)) {
        return false;
    }
    const bool is_latest = clock_generation.load(std::memory_order_relaxed) == current.generation;
    if (is_latest) {
        clock_state fresh = current.from;
        update_calibration(fresh.calibration, read_clock_sample(EVENTLOG_CLOCK_TSC));
        // By a reading that may be a wrap off all that follow would be.
        if (now.is_sure) {
            fresh.ticks = now.ticks;
            fresh.ticks_at = now.monotonic;
        }
        store_clock_state(fresh);
    }
    has_writer.store(false, std::memory_order_release);
    return is_latest;
}

/// What the region's clock says at a time of CLOCK_MONOTONIC.
std::uint64_t to_region_clock(const clock_state& from, std::uint32_t clock,
                              std::int64_t time) noexcept {
    return clock == EVENTLOG_CLOCK_TSC
               ? tsc_at(from.calibration, time)
               : static_cast<std::uint64_t>(std::max<std::int64_t>(time, 1));
}

/// In so many nanoseconds a counter of fewer than 64 bits begins anew.
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

void sleep_until(std::int64_t monotonic) noexcept {
    const timespec end{static_cast<time_t>(monotonic / second),
                       static_cast<long>(monotonic % second)};
    while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, nullptr) == EINTR) {
    }
}

/// How the machine's counter goes, to some millionths. Where two halves of the time disagree,
/// something came between.
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

/// From this instant on the program's clock counts.
void start(clock_state& fresh) noexcept {
    std::int64_t least = INT64_MAX;
    for (int i = 0; i < 5; ++i) {
        const std::int64_t before = monotonic_now();
        const std::uint64_t raw = call(fresh);
        const std::int64_t took = monotonic_now() - before;
        if (took < least) {
            least = took;
            fresh.first = raw;
            fresh.start = before + took / 2;
            fresh.ticks_at = fresh.start;
        }
    }
}

/// Nobody keeps it for long: but who does may not be running just now.
void acquire_writer() noexcept {
    while (has_writer.exchange(true, std::memory_order_acquire)) {
        sleep_until(monotonic_now() + 100'000);
    }
}

}  // namespace

constinit std::int64_t recalibration_interval = second;

bool has_custom_clock() noexcept {
    return is_set;
}

std::uint64_t read_custom_clock(std::uint32_t region_clock) noexcept {
    // What is read belongs to the basis that it was read with, and to no other: where that has been
    // replaced meanwhile, all of it is done over. Whoever is held up again and again takes what it
    // has, which is a time of one clock in any case.
    constexpr int attempts = 8;
    std::uint64_t found = 0;
    bool has_renewed = false;
    for (int attempt = 0; attempt < attempts; ++attempt) {
        const versioned_clock_state current = load_clock_state();
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
    has_writer.store(false, std::memory_order_relaxed);
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
        // No lock is held meanwhile: this sleeps, and calls the program's function.
        fresh = clock_state_of(*source);
        start(fresh);
    }
    acquire_writer();
    const registry_lock lock;
    store_clock_state(fresh);
    has_writer.store(false, std::memory_order_release);
    is_set = source != nullptr;
    update_slot_clocks();
    return true;
}
