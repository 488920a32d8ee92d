// SPDX-License-Identifier: MIT
#include <chrono>

#include <benchmark/benchmark.h>

#include "benchmarks.hpp"
#include "events.hpp"

namespace bench {

namespace {

using std::chrono::steady_clock;
using seconds = std::chrono::duration<double>;

// Below a tenth of a millisecond: most batches are over before the scheduler comes by.
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
        unheard::emit(retransmission{fields.sequence, fields.bytes, fields.window, reason});
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

/// One each time round. Out of line and aligned: at a fraction of a nanosecond it matters where the
/// loop stands in a line of the cache, and so it stands at the same place for all.
template <class Measured>
[[gnu::noinline, gnu::aligned(64)]] void run_batch(std::uint64_t first,
                                                   std::string_view reason) noexcept {
    for (std::uint64_t i = first; i != first + batch; ++i) {
        Measured::once(i, reason);
        benchmark::ClobberMemory();
    }
}

template <class Measured>
void run_loop(benchmark::State& state) {
    const std::string_view reason = opaque_reason();
    while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(batch))) {
        const steady_clock::time_point begin = steady_clock::now();
        run_batch<Measured>(0, reason);
        state.SetIterationTime(seconds(steady_clock::now() - begin).count());
    }
}

template <class Measured>
void register_loop(const char* name) {
    benchmark::RegisterBenchmark(name, run_loop<Measured>)
        ->UseManualTime()
        ->Iterations(static_cast<benchmark::IterationCount>(batch));
}

}  // namespace

void register_loops() {
    register_loop<load_test_branch>(name::branch);
    register_loop<emit_disabled>(name::disabled);
#if defined(__x86_64__)
    register_loop<read_timestamp>(name::timestamp);
#endif
}

}  // namespace bench
