// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <chrono>
#include <limits>

#include <benchmark/benchmark.h>

#include "benchmarks.hpp"
#include "events.hpp"

namespace bench {

namespace {

using std::chrono::steady_clock;
using seconds = std::chrono::duration<double>;

// Below a tenth of a millisecond, so the scheduler interrupts few batches.
constexpr std::uint64_t batch = 1U << 18U;

struct load_test_branch {
    [[gnu::always_inline]] static void once(std::uint64_t i, std::string_view reason) noexcept {
        if (branch_word.load(std::memory_order_relaxed) != 0) [[unlikely]] {
            const counted_fields fields = fields_of(i);
            take_branch(fields.sequence, fields.bytes, fields.window,
                        {reason.data(), reason.size()});
        }
    }
};

struct emit_disabled {
    [[gnu::always_inline]] static void once(std::uint64_t i, std::string_view reason) noexcept {
        const counted_fields fields = fields_of(i);
        disabled::emit(retransmission{fields.sequence, fields.bytes, fields.window, reason});
    }
};

/// Dependent multiplications: about eight cycles. No loop, because compilers do not move loops
/// behind a branch, not even with a constant count.
[[gnu::always_inline]] constexpr std::uint64_t mix(std::uint64_t value) noexcept {
    value = (value ^ value >> 33U) * 0xff51afd7ed558ccdU;
    value = (value ^ value >> 29U) * 0xc4ceb9fe1a85ec53U;
    return value ^ value >> 32U;
}

/// A loop over memory, which no compiler moves behind a branch.
[[gnu::always_inline]] inline std::uint64_t hash(std::string_view text) noexcept {
    std::uint64_t value = 0xcbf29ce484222325U;
    for (const char character : text) {
        value = (value ^ static_cast<unsigned char>(character)) * 0x100000001b3U;
    }
    return value;
}

/// Arguments with computations that belong behind the branch.
struct emit_disabled_costly {
    [[gnu::always_inline]] static void once(std::uint64_t i, std::string_view reason) noexcept {
        const counted_fields fields = fields_of(mix(i));
        disabled::emit(retransmission{mix(fields.sequence), fields.bytes * fields.bytes,
                                      fields.window, reason});
    }
};

/// Arguments that would be computed in front of the branch without a callable.
struct emit_disabled_lazy {
    [[gnu::always_inline]] static void once(std::uint64_t i, std::string_view reason) noexcept {
        disabled::emit([&] {
            const counted_fields fields = fields_of(hash(reason) ^ mix(i));
            return retransmission{fields.sequence, fields.bytes, fields.window, reason};
        });
    }
};

#if defined(__x86_64__)
struct read_timestamp {
    [[gnu::always_inline]] static void once(std::uint64_t, std::string_view) noexcept {
        std::uint32_t low = 0;
        std::uint32_t high = 0;
        asm volatile("rdtsc" : "=a"(low), "=d"(high));
    }
};
#endif

using batch_runner = void (*)(std::uint64_t first, std::string_view reason) noexcept;

/// One event for each iteration of a loop that begins `Shift` bytes behind the begin of a cache
/// line and the code that the compiler puts in front of it.
template <class Measured, int Shift>
[[gnu::noinline, gnu::aligned(64)]] void run_batch(std::uint64_t first,
                                                   std::string_view reason) noexcept {
    const std::uint64_t end = first + batch;
    std::uint64_t i = first;
    asm volatile(".balign 64\n\t.skip %c0, 0x90" : : "i"(Shift));
    do {
        Measured::once(i, reason);
        benchmark::ClobberMemory();
    } while (++i != end);
}

double time_batch(batch_runner run, std::uint64_t first, std::string_view reason) {
    const steady_clock::time_point begin = steady_clock::now();
    run(first, reason);
    return seconds(steady_clock::now() - begin).count();
}

/// At fractions of a nanosecond it matters whether a loop is in one cache line or in two. This
/// depends on chance and is not the subject: each loop has the offset that suits it.
template <class Measured>
batch_runner find_best_placed(std::uint64_t first, std::string_view reason) {
    constexpr std::array<batch_runner, 4> runners{run_batch<Measured, 0>, run_batch<Measured, 16>,
                                                  run_batch<Measured, 32>, run_batch<Measured, 48>};
    batch_runner best = runners.front();
    double least = std::numeric_limits<double>::infinity();
    for (int round = 0; round < 16; ++round) {
        for (const batch_runner runner : runners) {
            const double time = time_batch(runner, first, reason);
            best = time < least ? runner : best;
            least = std::min(time, least);
        }
    }
    return best;
}

/// Consecutive batches, from a number that is unknown at compile time; otherwise the compiler would
/// compute some fields.
template <class Measured>
double time_best_batch() {
    const std::string_view reason = opaque_reason();
    std::uint64_t first = 0;
    benchmark::DoNotOptimize(first);
    static const batch_runner run = find_best_placed<Measured>(first, reason);
    return time_batch(run, first, reason);
}

template <class Measured>
void run_loop(benchmark::State& state) {
    while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(batch))) {
        state.SetIterationTime(time_best_batch<Measured>());
    }
}

/// A batch of the loop and one of the bare branch in direct succession, in alternating order: see
/// bench/README.md.
template <class Measured>
void run_pairs(benchmark::State& state) {
    static bool branch_first = false;
    while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(batch))) {
        branch_first = !branch_first;
        double branch_took = branch_first ? time_best_batch<load_test_branch>() : 0;
        const double took = time_best_batch<Measured>();
        branch_took = branch_first ? branch_took : time_best_batch<load_test_branch>();
        state.SetIterationTime(took);
        state.counters[name::ratio_of_pair] = took / branch_took;
    }
}

void register_loop(const char* name, void (*run)(benchmark::State&)) {
    benchmark::RegisterBenchmark(name, run)->UseManualTime()->Iterations(
        static_cast<benchmark::IterationCount>(batch));
}

}  // namespace

void register_loops() {
    register_loop(name::branch, run_loop<load_test_branch>);
    register_loop(name::disabled, run_pairs<emit_disabled>);
    register_loop(name::disabled_costly, run_pairs<emit_disabled_costly>);
    register_loop(name::disabled_lazy, run_pairs<emit_disabled_lazy>);
#if defined(__x86_64__)
    register_loop(name::timestamp, run_loop<read_timestamp>);
#endif
}

}  // namespace bench
