// SPDX-License-Identifier: MIT
#include "ring/own_clock.hpp"

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
#include "platform/unnoticed.hpp"
#include "ring/clock.hpp"
#include "ring/counter_course.hpp"
#include "ring/subscription_slots.hpp"

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
[[gnu::tls_model("initial-exec")]] constinit thread_local int own_readings = 0;

using read_function = std::uint64_t (*)(void*);

/// All that a reading is made of. It is replaced as a whole.
struct basis {
    read_function read = nullptr;  // none: the machine's clock
    void* context = nullptr;
    std::uint64_t bits = 64;
    std::int64_t frequency = 1;
    std::uint64_t first = 0;         // what the program's clock said when it was set
    std::int64_t start = 0;          // CLOCK_MONOTONIC then
    std::int64_t interval = second;  // so often the rest is brought up to date:
    counter_course course;           // the machine's counter
    // and how far the program's clock had got, when.
    std::int64_t ticks = 0;
    std::int64_t ticks_at = 0;
};

using basis_words = std::array<std::uint64_t, sizeof(basis) / sizeof(std::uint64_t)>;

// Two of them, of which the generation says which one counts: readers never wait for a writer, and
// may be signal handlers that have interrupted one.
constinit std::array<std::array<std::atomic<std::uint64_t>, basis_words{}.size()>, 2> places{};
constinit std::atomic<std::uint32_t> clock_generation{0};
constinit std::atomic<bool> has_writer{false};
constinit bool is_set = false;  // under the registry's lock

/// The basis, and which generation of it.
struct current_basis {
    basis from;
    std::uint32_t generation = 0;
};

current_basis load_basis() noexcept {
    for (;;) {
        const std::uint32_t before = clock_generation.load(std::memory_order_acquire);
        basis_words words{};
        for (std::size_t i = 0; i < words.size(); ++i) {
            words[i] = places[before & 1U][i].load(std::memory_order_relaxed);
        }
        std::atomic_thread_fence(std::memory_order_acquire);
        if (clock_generation.load(std::memory_order_relaxed) == before) {
            return {std::bit_cast<basis>(words), before};
        }
    }
}

/// By who has become the writer.
void store_basis(const basis& fresh) noexcept {
    const auto words = std::bit_cast<basis_words>(fresh);
    const std::uint32_t next = clock_generation.load(std::memory_order_relaxed) + 1;
    // Who sees a word of these sees that the generation before has gone.
    std::atomic_thread_fence(std::memory_order_release);
    for (std::size_t i = 0; i < words.size(); ++i) {
        places[next & 1U][i].store(words[i], std::memory_order_relaxed);
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
std::int64_t unwrapped(const basis& from, std::uint64_t raw, std::int64_t monotonic) noexcept {
    const auto expected = static_cast<std::uint64_t>(
        from.ticks + ticks_in(monotonic - from.ticks_at, from.frequency));
    const auto unused = static_cast<unsigned>(64 - from.bits);
    const auto ahead = static_cast<std::int64_t>((raw - from.first - expected) << unused);
    return static_cast<std::int64_t>(expected) + (ahead >> unused);
}

std::uint64_t call(const basis& from) noexcept {
    ++own_readings;
    const std::uint64_t raw = from.read(from.context);
    --own_readings;
    return raw;
}

reading read_program(const basis& from) noexcept {
    if (from.bits == 64) {
        return {static_cast<std::int64_t>(call(from) - from.first),
                static_cast<std::int64_t>(coarse_now())};
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

bool is_due(const basis& from, std::int64_t monotonic) noexcept {
    return monotonic - from.ticks_at >= from.interval;
}

/// Reads the machine's clocks anew, and notes how far the program's has got. False if somebody else
/// is doing it or has done it. The program's function is not called while others cannot do it, and
/// who sees that somebody does it pays for no more than that.
[[gnu::noinline]] bool renew(const current_basis& current, const reading& now) noexcept {
    if (has_writer.load(std::memory_order_relaxed)) {
        return false;
    }
    const unnoticed guard;
    if (has_writer.exchange(true, std::memory_order_acquire)) {
        return false;
    }
    const bool is_latest = clock_generation.load(std::memory_order_relaxed) == current.generation;
    if (is_latest) {
        basis fresh = current.from;
        follow(fresh.course, read_clock_pair(EVENTLOG_CLOCK_TSC));
        // By a reading that may be a wrap off all that follow would be.
        if (now.is_sure) {
            fresh.ticks = now.ticks;
            fresh.ticks_at = now.monotonic;
        }
        store_basis(fresh);
    }
    has_writer.store(false, std::memory_order_release);
    return is_latest;
}

/// What the region's clock says at a time of CLOCK_MONOTONIC.
std::uint64_t on_region_clock(const basis& from, std::uint32_t clock, std::int64_t time) noexcept {
    return clock == EVENTLOG_CLOCK_TSC
               ? counter_at(from.course, time)
               : static_cast<std::uint64_t>(std::max<std::int64_t>(time, 1));
}

/// In so many nanoseconds a counter of fewer than 64 bits begins anew.
double wrap_of(const eventlog_clock_source& source) noexcept {
    return static_cast<double>(std::uint64_t{1} << source.bits) * 1e9 /
           static_cast<double>(source.frequency);
}

bool is_sound(const eventlog_clock_source& source) noexcept {
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
counter_course measure_course() noexcept {
    constexpr int attempts = 4;
    counter_course found;
    for (int attempt = 0; attempt < attempts; ++attempt) {
        std::array<eventlog_clock_pair, 3> pairs{};
        for (eventlog_clock_pair& pair : pairs) {
            pair = read_clock_pair(EVENTLOG_CLOCK_TSC);
            if (&pair != &pairs.back()) {
                sleep_until(static_cast<std::int64_t>(pair.monotonic) + course_step / 2);
            }
        }
        found = course_from(pairs[2], rate_between(pairs[0], pairs[2]));
        if (is_same_rate(rate_between(pairs[0], pairs[1]), rate_between(pairs[1], pairs[2]))) {
            break;
        }
    }
    return found;
}

basis basis_of(const eventlog_clock_source& source) noexcept {
    basis found;
    found.read = source.read;
    found.context = source.context;
    found.bits = source.bits;
    found.frequency = static_cast<std::int64_t>(source.frequency);
    found.interval = renewal_interval;
    if (source.bits < 64) {
        found.interval = static_cast<std::int64_t>(
            std::min(wrap_of(source) / 8, static_cast<double>(renewal_interval)));
    }
    found.course = measure_course();
    return found;
}

/// From this instant on the program's clock counts.
void start(basis& fresh) noexcept {
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
void become_writer() noexcept {
    while (has_writer.exchange(true, std::memory_order_acquire)) {
        sleep_until(monotonic_now() + 100'000);
    }
}

}  // namespace

constinit std::int64_t renewal_interval = second;

bool has_own_clock() noexcept {
    return is_set;
}

std::uint64_t read_own_clock(std::uint32_t region_clock) noexcept {
    // What is read belongs to the basis that it was read with, and to no other: where that has been
    // replaced meanwhile, all of it is done over. Whoever is held up again and again takes what it
    // has, which is a time of one clock in any case.
    constexpr int attempts = 8;
    std::uint64_t found = 0;
    bool has_renewed = false;
    for (int attempt = 0; attempt < attempts; ++attempt) {
        const current_basis current = load_basis();
        const basis& from = current.from;
        if (from.read == nullptr || own_readings >= readings_max) {
            return read_clock(region_clock);
        }
        const reading now = read_program(from);
        found = on_region_clock(from, region_clock,
                                from.start + nanoseconds_in(now.ticks, from.frequency));
        if (!has_renewed && is_due(from, now.monotonic) && renew(current, now)) [[unlikely]] {
            has_renewed = true;
        } else if (clock_generation.load(std::memory_order_acquire) == current.generation)
            [[likely]] {
            break;
        }
    }
    return found;
}

void forget_own_clock_reader() noexcept {
    has_writer.store(false, std::memory_order_relaxed);
}

}  // namespace eventlog::core

bool eventlog_set_clock(const eventlog_clock_source* source) {
    using namespace eventlog::core;
    if (source != nullptr && !is_sound(*source)) {
        return false;
    }
    const unnoticed guard;
    basis fresh;
    if (source != nullptr) {
        // No lock is held meanwhile: this sleeps, and calls the program's function.
        fresh = basis_of(*source);
        start(fresh);
    }
    become_writer();
    const registry_lock lock;
    store_basis(fresh);
    has_writer.store(false, std::memory_order_release);
    is_set = source != nullptr;
    choose_clocks();
    return true;
}
