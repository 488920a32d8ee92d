// SPDX-License-Identifier: MIT
#include "ring/clock.hpp"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <string_view>

#include "platform/time_namespace.hpp"
#include "platform/unique_fd.hpp"
#include "ring/custom_clock.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace eventlog::core {
namespace {

std::uint64_t nanoseconds(clockid_t clock) noexcept {
    timespec now{};
    static_cast<void>(::clock_gettime(clock, &now));
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
           static_cast<std::uint64_t>(now.tv_nsec);
}

/// A clock of the machine.
std::uint64_t monotonic_nanoseconds(clockid_t clock) noexcept {
    return nanoseconds(clock) - static_cast<std::uint64_t>(own_time_offsets().monotonic);
}

#if defined(__x86_64__)

constexpr bool has_tsc = true;
constexpr std::string_view counter_name = "tsc";

bool has_invariant_tsc() noexcept {
    unsigned eax = 0;
    unsigned ebx = 0;
    unsigned ecx = 0;
    unsigned edx = 0;
    return __get_cpuid(0x80000007U, &eax, &ebx, &ecx, &edx) != 0 && (edx & (1U << 8U)) != 0;
}

#elif defined(__aarch64__)

constexpr bool has_tsc = true;
constexpr std::string_view counter_name = "arch_sys_counter";

/// The architecture guarantees a constant rate, the same counter on all CPUs, and access from user
/// space. (On processors with errata the kernel emulates the access.)
constexpr bool has_invariant_tsc() noexcept {
    return true;
}

#else

constexpr bool has_tsc = false;
constexpr std::string_view counter_name = "none";

constexpr bool has_invariant_tsc() noexcept {
    return false;
}

#endif

/// The kernel removes a counter from this list if it differs between CPUs.
bool kernel_lists_tsc() noexcept {
    const unique_fd file(
        ::open("/sys/devices/system/clocksource/clocksource0/available_clocksource",
               O_RDONLY | O_CLOEXEC));
    std::array<char, 256> text{};
    const ssize_t size = file ? ::read(file.get(), text.data(), text.size()) : -1;
    return size > 0 && lists_tsc({text.data(), static_cast<std::size_t>(size)});
}

}  // namespace

tsc_choice parse_tsc_choice(std::string_view value) noexcept {
    if (value.empty() || value == "auto") {
        return tsc_choice::automatic;
    }
    if (value == "on") {
        return tsc_choice::on;
    }
    return value == "off" ? tsc_choice::off : tsc_choice::invalid;
}

tsc_choice configured_tsc_choice() noexcept {
    const char* value = ::secure_getenv("EVENTLOG_TSC");
    return value == nullptr ? tsc_choice::automatic : parse_tsc_choice(value);
}

bool lists_tsc(std::string_view clock_sources) noexcept {
    constexpr std::string_view separators = " \n";
    while (!clock_sources.empty()) {
        const std::size_t end = clock_sources.find_first_of(separators);
        if (clock_sources.substr(0, end) == counter_name) {
            return true;
        }
        clock_sources.remove_prefix(std::min(end, clock_sources.size() - 1) + 1);
    }
    return false;
}

tsc_properties probe_tsc() noexcept {
    return {has_tsc, has_invariant_tsc(), has_tsc && kernel_lists_tsc()};
}

eventlog_clock best_clock() noexcept {
    return select_clock(configured_tsc_choice(), probe_tsc());
}

namespace {

/// Not a custom clock.
[[gnu::always_inline]] inline std::uint64_t read_machine_clock(std::uint32_t clock) noexcept {
#if defined(__x86_64__)
    if (clock == EVENTLOG_CLOCK_TSC) {
        return __rdtsc();
    }
#elif defined(__aarch64__)
    if (clock == EVENTLOG_CLOCK_TSC) {
        // Without the barrier a processor reads the counter early, and two reads in any order.
        std::uint64_t ticks = 0;
        asm volatile("isb\n mrs %[ticks], cntvct_el0" : [ticks] "=r"(ticks) : : "memory");
        return ticks;
    }
#endif
    return monotonic_nanoseconds(CLOCK_MONOTONIC);
}

}  // namespace

std::uint64_t read_clock(std::uint32_t clock) noexcept {
    return (clock & custom_clock_bit) != 0 ? read_custom_clock(clock & ~custom_clock_bit)
                                           : read_machine_clock(clock);
}

std::uint64_t read_clock_ordered(std::uint32_t clock) noexcept {
#if defined(__x86_64__)
    _mm_lfence();
#endif
    return read_machine_clock(clock);
}

std::uint64_t coarse_monotonic_now() noexcept {
    return monotonic_nanoseconds(CLOCK_MONOTONIC_COARSE);
}

void keep_less_interrupted(const clock_readings& next, std::uint64_t& shortest,
                           eventlog_clock_sample& best) noexcept {
    const std::uint64_t took = next.after - next.before;
    if (took < shortest) {
        shortest = took;
        best = {next.before + took / 2, next.monotonic, next.realtime};
    }
}

eventlog_clock_sample read_clock_sample(std::uint32_t clock) noexcept {
    constexpr int attempts = 5;
    eventlog_clock_sample best{};
    std::uint64_t shortest = UINT64_MAX;
    for (int attempt = 0; attempt < attempts; ++attempt) {
        clock_readings next;
        next.before = read_machine_clock(clock);
        next.monotonic = monotonic_nanoseconds(CLOCK_MONOTONIC);
        next.realtime = nanoseconds(CLOCK_REALTIME);
        next.after = read_machine_clock(clock);
        keep_less_interrupted(next, shortest, best);
    }
    return best;
}

}  // namespace eventlog::core
