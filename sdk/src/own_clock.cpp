// SPDX-License-Identifier: MIT
#include "own_clock.hpp"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <eventlog/abi.h>

#include "clock.hpp"
#include "registered_provider.hpp"
#include "subscription_slots.hpp"
#include "unnoticed.hpp"

namespace eventlog::core {
namespace {

constexpr std::int64_t second = 1'000'000'000;

// More ticks a second, or an earlier wrap, cannot be told apart reliably.
constexpr std::uint64_t frequency_max = 10'000'000'000;
constexpr std::uint32_t bits_min = 8;
constexpr double wrap_min = 10e6;  // nanoseconds

// For so long the rate of the machine's counter is measured at first: to some millionths.
constexpr long measuring_time = 10'000'000;
// Beyond that the machine slept in between, and only one of its clocks stood still.
constexpr double rate_tolerance = 1e-3;

using read_function = std::uint64_t (*)(void*);

/// All that a reading is made of. It is replaced as a whole.
struct basis {
    read_function read = nullptr;  // none: the machine's clock
    void* context = nullptr;
    std::uint64_t bits = 64;
    std::int64_t frequency = 1;
    std::uint64_t first = 0;  // what the program's clock said when it was set
    std::int64_t start = 0;   // CLOCK_MONOTONIC then
    // Not long ago, no more than `interval` as a rule: the two clocks of the machine,
    std::int64_t interval = second;
    std::int64_t monotonic = 0;
    std::uint64_t counter = 0;
    double rate = 1.0;  // ticks of the counter in a nanosecond
    // and how far the program's clock had got, when.
    std::int64_t ticks = 0;
    std::int64_t ticks_at = 0;
};

using basis_words = std::array<std::uint64_t, sizeof(basis) / sizeof(std::uint64_t)>;

// Two of them, of which the generation says which one counts: readers never wait for a writer, and
// may be signal handlers that have interrupted one.
constinit std::array<std::array<std::atomic<std::uint64_t>, basis_words{}.size()>, 2> places{};
constinit std::atomic<std::uint32_t> generation{0};
constinit std::atomic<bool> has_writer{false};
constinit bool is_set = false;  // under the registry's lock

/// The basis, and which generation of it.
struct current_basis {
    basis from;
    std::uint32_t generation = 0;
};

current_basis load_basis() noexcept {
    for (;;) {
        const std::uint32_t before = generation.load(std::memory_order_acquire);
        basis_words words{};
        for (std::size_t i = 0; i < words.size(); ++i) {
            words[i] = places[before & 1U][i].load(std::memory_order_relaxed);
        }
        std::atomic_thread_fence(std::memory_order_acquire);
        if (generation.load(std::memory_order_relaxed) == before) {
            return {std::bit_cast<basis>(words), before};
        }
    }
}

/// By who has become the writer.
void store_basis(const basis& fresh) noexcept {
    const auto words = std::bit_cast<basis_words>(fresh);
    const std::uint32_t next = generation.load(std::memory_order_relaxed) + 1;
    // Who sees a word of these sees that the generation before has gone.
    std::atomic_thread_fence(std::memory_order_release);
    for (std::size_t i = 0; i < words.size(); ++i) {
        places[next & 1U][i].store(words[i], std::memory_order_relaxed);
    }
    generation.store(next, std::memory_order_release);
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

reading read_program(const basis& from) noexcept {
    if (from.bits == 64) {
        return {static_cast<std::int64_t>(from.read(from.context) - from.first),
                static_cast<std::int64_t>(coarse_now())};
    }
    // Held up in between for a good part of a wrap, as virtual machines are, it is read again.
    constexpr int attempts = 8;
    reading found;
    for (int attempt = 0; attempt < attempts; ++attempt) {
        const std::int64_t before = monotonic_now();
        const std::uint64_t raw = from.read(from.context);
        found = {unwrapped(from, raw, before), before};
        if (monotonic_now() - before < from.interval) {
            break;
        }
    }
    return found;
}

bool is_near(double rate, double before) noexcept {
    return rate > before * (1 - rate_tolerance) && rate < before * (1 + rate_tolerance);
}

/// Reads the machine's clocks anew, and from time to time how far the program's has got.
void renew(basis& old, const reading& now) noexcept {
    const eventlog_clock_pair pair = read_clock_pair(EVENTLOG_CLOCK_TSC);
    const auto monotonic = static_cast<std::int64_t>(pair.monotonic);
    if (monotonic > old.monotonic && pair.clock > old.counter) {
        const double rate = static_cast<double>(pair.clock - old.counter) /
                            static_cast<double>(monotonic - old.monotonic);
        // Not over a moment, which says little, nor over a sleep.
        if (monotonic - old.monotonic >= measuring_time && is_near(rate, old.rate)) {
            old.rate = rate;
        }
    }
    old.monotonic = monotonic;
    old.counter = pair.clock;
    old.ticks = now.ticks;
    old.ticks_at = now.monotonic;
}

bool is_due(const basis& old, std::int64_t monotonic) noexcept {
    return monotonic - std::min(old.monotonic, old.ticks_at) >= old.interval;
}

[[gnu::noinline]] void renew_if_nobody_does(std::int64_t monotonic) noexcept {
    const unnoticed guard;
    if (has_writer.exchange(true, std::memory_order_acquire)) {
        return;
    }
    // Again: another may just have done it, or have taken the clock back.
    basis latest = load_basis().from;
    if (latest.read != nullptr && is_due(latest, monotonic)) {
        renew(latest, read_program(latest));
        store_basis(latest);
    }
    has_writer.store(false, std::memory_order_release);
}

/// What the region's clock says at a time of CLOCK_MONOTONIC.
std::uint64_t on_region_clock(const basis& from, std::uint32_t clock, std::int64_t time) noexcept {
    if (clock != EVENTLOG_CLOCK_TSC) {
        return static_cast<std::uint64_t>(std::max<std::int64_t>(time, 1));
    }
    const double distance = static_cast<double>(time - from.monotonic) * from.rate;
    const auto found = static_cast<std::int64_t>(from.counter) +
                       static_cast<std::int64_t>(distance + (distance < 0 ? -0.5 : 0.5));
    return static_cast<std::uint64_t>(std::max<std::int64_t>(found, 1));
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

/// With a rate of the machine's counter to begin with.
basis measure(const eventlog_clock_source& source) noexcept {
    basis found;
    found.read = source.read;
    found.context = source.context;
    found.bits = source.bits;
    found.frequency = static_cast<std::int64_t>(source.frequency);
    if (source.bits < 64) {
        found.interval = static_cast<std::int64_t>(std::min(wrap_of(source) / 8, 1e9));
    }
    const eventlog_clock_pair early = read_clock_pair(EVENTLOG_CLOCK_TSC);
    const timespec pause{0, measuring_time};
    static_cast<void>(::nanosleep(&pause, nullptr));
    const eventlog_clock_pair late = read_clock_pair(EVENTLOG_CLOCK_TSC);
    if (late.monotonic > early.monotonic && late.clock > early.clock) {
        found.rate = static_cast<double>(late.clock - early.clock) /
                     static_cast<double>(late.monotonic - early.monotonic);
    }
    found.monotonic = static_cast<std::int64_t>(late.monotonic);
    found.counter = late.clock;
    return found;
}

/// From this instant on the program's clock counts.
void start(basis& fresh) noexcept {
    std::int64_t least = INT64_MAX;
    for (int i = 0; i < 5; ++i) {
        const std::int64_t before = monotonic_now();
        const std::uint64_t raw = fresh.read(fresh.context);
        const std::int64_t took = monotonic_now() - before;
        if (took < least) {
            least = took;
            fresh.first = raw;
            fresh.start = before + took / 2;
            fresh.ticks_at = fresh.start;
        }
    }
}

}  // namespace

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
        const auto [from, version] = load_basis();
        if (from.read == nullptr) {
            return read_clock(region_clock);
        }
        const reading now = read_program(from);
        found = on_region_clock(from, region_clock,
                                from.start + nanoseconds_in(now.ticks, from.frequency));
        if (!has_renewed && is_due(from, now.monotonic)) [[unlikely]] {
            renew_if_nobody_does(now.monotonic);
            has_renewed = true;
        } else if (generation.load(std::memory_order_acquire) == version) [[likely]] {
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
    basis fresh = source == nullptr ? basis{} : measure(*source);
    const registry_lock lock;
    while (has_writer.exchange(true, std::memory_order_acquire)) {
        static_cast<void>(::sched_yield());
    }
    if (source != nullptr) {
        start(fresh);
    }
    store_basis(fresh);
    has_writer.store(false, std::memory_order_release);
    is_set = source != nullptr;
    choose_clocks();
    return true;
}
