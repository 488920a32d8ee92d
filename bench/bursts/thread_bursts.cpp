// SPDX-License-Identifier: MIT
#include "thread_bursts.hpp"

#include <sched.h>

#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <string_view>
#include <thread>
#include <vector>

#include "burst.hpp"
#include "events.hpp"
#include "failure.hpp"
#include "own_bursts.hpp"

namespace bench {
namespace {

using std::chrono::steady_clock;

constexpr std::size_t many = 64;
// All events fit twice into the buffers of one CPU (four times 4 MiB), if all threads end there.
constexpr std::uint64_t events_of_each = 2048;
// Each of the many threads yields its CPU after that many events.
constexpr std::uint64_t turn = 512;
// The first events of a thread are not measured.
constexpr std::uint64_t warm_up = 16;

[[gnu::noinline]] void emit(std::uint64_t count) {
    const std::string_view reason = opaque_reason();
    for (std::uint64_t i = 0; i < count; ++i) {
        const counted_fields fields = fields_of(i);
        recorded::emit(retransmission{fields.sequence, fields.bytes, fields.window, reason});
    }
    count_emitted(count);
}

/// The last two CPUs of the machine; the remaining ones are for other processes.
std::array<std::size_t, 2> two_cpus() {
    const std::vector<std::size_t> cpus = usable_cpus();
    if (cpus.size() < 2) {
        throw failure("There is one CPU, and this takes two.");
    }
    return {cpus[cpus.size() - 2], cpus.back()};
}

/// Spins, so that its CPU stays awake, until that many threads have arrived.
double time_pinned_burst(std::size_t cpu, std::atomic<unsigned>& missing) {
    const stay_on_cpu here(cpu);
    emit(warm_up);
    compute_for(pause);
    missing.fetch_sub(1, std::memory_order_relaxed);
    while (missing.load(std::memory_order_relaxed) != 0) {
    }
    const steady_clock::time_point begin = steady_clock::now();
    emit(burst);
    const std::chrono::duration<double, std::nano> took = steady_clock::now() - begin;
    return took.count() / static_cast<double>(burst);
}

double processor_time() {
    timespec time{};
    static_cast<void>(::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time));
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

/// Nanoseconds of processor time.
struct turns_took {
    double emitting = 0;
    double altogether = 0;  // including the time to yield the CPU
};

turns_took time_turns(std::uint64_t events, std::barrier<>& line) {
    turns_took took;
    emit(warm_up);
    line.arrive_and_wait();
    const double first = processor_time();
    double begin = first;
    for (std::uint64_t done = 0; done < events; done += turn) {
        emit(turn);
        took.emitting += processor_time() - begin;
        ::sched_yield();
        begin = processor_time();
    }
    took.altogether = begin - first;
    return took;
}

void keep_to(const std::array<std::size_t, 2>& cpus) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const std::size_t cpu : cpus) {
        CPU_SET(cpu, &set);
    }
    static_cast<void>(::sched_setaffinity(0, sizeof set, &set));
}

/// The time of each event, with `count` threads that emit `events` each.
answer time_threads(std::size_t count, std::uint64_t events) {
    const std::array<std::size_t, 2> cpus = two_cpus();
    std::vector<turns_took> took(count);
    std::barrier line(static_cast<std::ptrdiff_t>(count) + 1);
    std::vector<std::thread> threads;
    for (turns_took& mine : took) {
        threads.emplace_back([&] {
            keep_to(cpus);
            mine = time_turns(events, line);
        });
    }
    compute_for(pause);
    line.arrive_and_wait();
    for (std::thread& thread : threads) {
        thread.join();
    }
    turns_took sum;
    for (const turns_took& each : took) {
        sum.emitting += each.emitting;
        sum.altogether += each.altogether;
    }
    const auto emitted = static_cast<double>(count * events);
    return {sum.emitting / emitted, sum.altogether / emitted};
}

}  // namespace

answer burst_alone(std::size_t number) {
    const std::size_t cpu = two_cpus().at(number);
    std::atomic<unsigned> missing{1};
    double took = 0;
    std::thread([&] { took = time_pinned_burst(cpu, missing); }).join();
    return {took};
}

answer burst_by_both() {
    const std::array<std::size_t, 2> cpus = two_cpus();
    std::atomic<unsigned> missing{2};
    answer took(2);
    std::thread first([&] { took[0] = time_pinned_burst(cpus[0], missing); });
    std::thread second([&] { took[1] = time_pinned_burst(cpus[1], missing); });
    first.join();
    second.join();
    return took;
}

answer burst_by_many() {
    return time_threads(many, events_of_each);
}

answer burst_by_one() {
    return time_threads(1, many * events_of_each / 2);
}

}  // namespace bench
