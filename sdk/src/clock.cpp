// SPDX-License-Identifier: MIT
#include "clock.hpp"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>

#include "own_clock.hpp"
#include "unique_fd.hpp"

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

#if defined(__x86_64__)

constexpr const char* name_of_counter = "tsc";

/// The processor promises a constant rate in all its states ...
bool has_steady_counter() noexcept {
    unsigned eax = 0;
    unsigned ebx = 0;
    unsigned ecx = 0;
    unsigned edx = 0;
    return __get_cpuid(0x80000007U, &eax, &ebx, &ecx, &edx) != 0 && (edx & (1U << 8U)) != 0;
}

#elif defined(__aarch64__)

constexpr const char* name_of_counter = "arch_sys_counter";

/// The architecture promises a constant rate, the same counter on all CPUs, and that programs may
/// read it. (Where a processor breaks the promise, the kernel reads it for them.)
constexpr bool has_steady_counter() noexcept {
    return true;
}

#endif

#if defined(__x86_64__) || defined(__aarch64__)

/// ... and the kernel has found it to be the same on all CPUs: else it drops it from its list.
bool kernel_trusts_counter() noexcept {
    const unique_fd file(
        ::open("/sys/devices/system/clocksource/clocksource0/available_clocksource",
               O_RDONLY | O_CLOEXEC));
    std::array<char, 256> text{};
    return file && ::read(file.get(), text.data(), text.size() - 1) > 0 &&
           std::strstr(text.data(), name_of_counter) != nullptr;
}

#endif

}  // namespace

bool is_counter_forbidden() noexcept {
    const char* choice = ::secure_getenv("EVENTLOG_TSC");
    return choice != nullptr && std::strcmp(choice, "off") == 0;
}

eventlog_clock best_clock() noexcept {
#if defined(__x86_64__) || defined(__aarch64__)
    if (!is_counter_forbidden() && has_steady_counter() && kernel_trusts_counter()) {
        return EVENTLOG_CLOCK_TSC;
    }
#endif
    return EVENTLOG_CLOCK_MONOTONIC;
}

std::uint64_t read_clock(std::uint32_t clock) noexcept {
#if defined(__x86_64__)
    if (clock == EVENTLOG_CLOCK_TSC) {
        return __rdtsc();
    }
#elif defined(__aarch64__)
    if (clock == EVENTLOG_CLOCK_TSC) {
        // Processors read it early, and two readings in any order, but for the barrier.
        std::uint64_t ticks = 0;
        asm volatile("isb\n mrs %[ticks], cntvct_el0" : [ticks] "=r"(ticks) : : "memory");
        return ticks;
    }
#endif
    if ((clock & own_clock_bit) != 0) {
        return read_own_clock(clock & ~own_clock_bit);
    }
    return nanoseconds(CLOCK_MONOTONIC);
}

std::uint64_t read_clock_in_order(std::uint32_t clock) noexcept {
#if defined(__x86_64__)
    _mm_lfence();
#endif
    return read_clock(clock);
}

std::uint64_t coarse_now() noexcept {
    return nanoseconds(CLOCK_MONOTONIC_COARSE);
}

eventlog_clock_pair read_clock_pair(std::uint32_t clock) noexcept {
    // Of several readings the one that took least time was not interrupted.
    eventlog_clock_pair best{};
    std::uint64_t least = UINT64_MAX;
    for (int i = 0; i < 5; ++i) {
        const std::uint64_t before = read_clock(clock);
        const std::uint64_t monotonic = nanoseconds(CLOCK_MONOTONIC);
        const std::uint64_t realtime = nanoseconds(CLOCK_REALTIME);
        const std::uint64_t after = read_clock(clock);
        if (after - before < least) {
            least = after - before;
            best = {before + (after - before) / 2, monotonic, realtime};
        }
    }
    return best;
}

}  // namespace eventlog::core
