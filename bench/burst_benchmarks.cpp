// SPDX-License-Identifier: MIT
#include <chrono>
#include <memory>

#include <benchmark/benchmark.h>

#include "benchmarks.hpp"
#include "burst.hpp"
#include "events.hpp"
#include "failure.hpp"
#include "rseq_floor.hpp"

namespace bench {
namespace {

using std::chrono::steady_clock;

// Header, fixed fields, twelve characters and their NUL.
constexpr std::size_t record_size = 8 + 20 + 13;
constexpr std::size_t padded_record_size = 48;

// Fills all buffers twice.
constexpr std::uint64_t memory_of_cpu = std::uint64_t{16} << 20U;
constexpr std::uint64_t bursts_to_warm_up = 2 * memory_of_cpu / (burst * padded_record_size) + 1;
constexpr std::uint64_t quick_bursts_to_warm_up = 2;

std::uint64_t emitted_enabled = 0;
std::uint64_t emitted_dropped = 0;

struct emit_enabled {
    static constexpr std::chrono::nanoseconds pause_before = pause;
    std::string_view reason = opaque_reason();

    [[gnu::always_inline]] void operator()(std::uint64_t i) const noexcept {
        const counted_fields fields = fields_of(i);
        recorded::emit(retransmission{fields.sequence, fields.bytes, fields.window, reason});
    }
    static void count(std::uint64_t events) noexcept { emitted_enabled += events; }
};

struct emit_dropped {
    static constexpr std::chrono::nanoseconds pause_before{0};
    std::string_view reason = opaque_reason();

    [[gnu::always_inline]] void operator()(std::uint64_t i) const noexcept {
        const counted_fields fields = fields_of(i);
        dropped::emit(retransmission{fields.sequence, fields.bytes, fields.window, reason});
    }
    static void count(std::uint64_t events) noexcept { emitted_dropped += events; }
};

#if BENCH_HAS_RSEQ_FLOOR
/// One floor for all repetitions, as one listener records all repetitions of the enabled emit.
const rseq_floor& floor_rings() {
    static const rseq_floor rings;
    return rings;
}

struct write_floor {
    static constexpr std::chrono::nanoseconds pause_before = pause;
    std::string_view reason = opaque_reason();
    const rseq_floor& rings = floor_rings();

    [[gnu::always_inline]] void operator()(std::uint64_t i) const noexcept {
        const counted_fields fields = fields_of(i);
        rings.emit(fields.sequence, fields.bytes, fields.window, reason);
    }
    static void count(std::uint64_t) noexcept {}
};
#endif

template <class Measured>
[[gnu::noinline]] std::chrono::duration<double> run_burst(const Measured& measured) {
    const steady_clock::time_point begin = steady_clock::now();
    for (std::uint64_t i = 0; i < burst; ++i) {
        measured(i);
    }
    return steady_clock::now() - begin;
}

template <class Measured>
void run_bursts(benchmark::State& state) {
    const Measured measured;
    while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(burst))) {
        compute_for(Measured::pause_before);
        state.SetIterationTime(run_burst(measured).count());
        Measured::count(burst);
    }
}

#if BENCH_HAS_RSEQ_FLOOR
/// A burst of eventlog and one of the floor in direct succession, in alternating order: a longer
/// disturbance affects both alike, and not their ratio.
void run_pairs(benchmark::State& state) {
    static bool floor_first = false;
    const emit_enabled ours;
    const write_floor floor;
    std::chrono::duration<double> floor_took{};
    const auto time_floor = [&] {
        compute_for(write_floor::pause_before);
        floor_took = run_burst(floor);
    };
    while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(burst))) {
        floor_first = !floor_first;
        if (floor_first) {
            time_floor();
        }
        compute_for(emit_enabled::pause_before);
        const std::chrono::duration<double> took = run_burst(ours);
        emit_enabled::count(burst);
        if (!floor_first) {
            time_floor();
        }
        state.SetIterationTime(took.count());
        state.counters[name::ratio_of_pair] = took / floor_took;
    }
}
#endif

void register_burst(const char* name, void (*run)(benchmark::State&)) {
    benchmark::RegisterBenchmark(name, run)->UseManualTime()->Iterations(
        static_cast<benchmark::IterationCount>(burst));
}

template <class Measured>
void warm_up(std::uint64_t bursts, std::chrono::nanoseconds pause_before) {
    const Measured measured;
    for (std::uint64_t i = 0; i < bursts; ++i) {
        compute_for(pause_before);
        static_cast<void>(run_burst(measured));
        Measured::count(burst);
    }
}

void check_count(const char* name, std::uint64_t emitted, const listener_summary& summary) {
    if (summary.events + summary.lost != emitted) {
        throw failure("{}: {} events were emitted, but elog has read {} and counts {} as lost.",
                      name, emitted, summary.events, summary.lost);
    }
}

void check_published() {
    const eventlog::provider_status status = recorded::status();
    if (status.code != EVENTLOG_STATUS_OK) {
        throw failure("There is nothing to measure: {}", status.text.data());
    }
}

listener listen(const options& chosen, const std::filesystem::path& directory) {
    check_published();
    return listener({find_elog(chosen), "bench:*", "4M", directory, "enabled"},
                    [] { return recorded::enabled<retransmission>(); });
}

}  // namespace

void register_bursts() {
#if BENCH_HAS_RSEQ_FLOOR
    if (rseq_floor::available()) {
        register_burst(name::floor, run_bursts<write_floor>);
        register_burst(name::enabled, run_pairs);
    } else {
        register_burst(name::enabled, run_bursts<emit_enabled>);
    }
#else
    register_burst(name::enabled, run_bursts<emit_enabled>);
#endif
    register_burst(name::dropped, run_bursts<emit_dropped>);
}

void warm_up_bursts(bool quick) {
    const std::uint64_t bursts = quick ? quick_bursts_to_warm_up : bursts_to_warm_up;
    warm_up<emit_enabled>(bursts, emit_enabled::pause_before);
    warm_up<emit_dropped>(bursts, emit_dropped::pause_before);
#if BENCH_HAS_RSEQ_FLOOR
    // The floor needs no pauses, because it has no reader. Its whole ring is checked at the end.
    if (rseq_floor::available()) {
        warm_up<write_floor>(bursts_to_warm_up, std::chrono::nanoseconds{0});
    }
#endif
}

listeners::listeners(const options& chosen, const std::filesystem::path& directory)
    : enabled_(listen(chosen, directory)),
      dropped_({find_elog(chosen), "bench_dropped:*", "128K", directory, "dropped"},
               [] { return dropped::enabled<retransmission>(); }) {
    dropped_.suspend();
}

listeners::outcome listeners::stop() {
    const outcome result{enabled_.stop(), dropped_.stop()};
    check_count(name::enabled, emitted_enabled, result.enabled);
    check_count(name::dropped, emitted_dropped, result.dropped);
#if BENCH_HAS_RSEQ_FLOOR
    // A floor with missing records is not a valid peer. (The record behind the position is
    // overwritten.)
    constexpr std::size_t expected = rseq_floor::ring_size / padded_record_size - 1;
    if (rseq_floor::available() && floor_rings().count_records(record_size) < expected) {
        throw failure("{}: its ring does not hold {} records.", name::floor, expected);
    }
#endif
    return result;
}

}  // namespace bench
