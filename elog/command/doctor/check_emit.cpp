// SPDX-License-Identifier: MIT
//
// Checks of what emitting uses: restartable sequences, futex, clock and CPUs.
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <fmt/core.h>

#include "base/cpus.hpp"
#include "doctor/check.hpp"
#include "ring/clock.hpp"
#include "ring/rseq_sequence.hpp"

namespace elog::doctor {
namespace {

namespace core = eventlog::core;

constexpr const char* one_ring = "Until then all threads share one ring.";
constexpr const char* slower = "Until then reading the time is slower.";

std::string and_one_ring(const char* remedy) {
    return fmt::format("{} {}", remedy, one_ring);
}

std::string_view variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string_view{} : std::string_view(value);
}

/// Makes an invalid call, which only a kernel with rseq rejects as invalid.
bool kernel_has_rseq() {
    return ::syscall(SYS_rseq, nullptr, 0U, 0, 0U) == 0 || errno != ENOSYS;
}

/// Whether glibc has registered rseq.
bool is_rseq_registered() {
#if EVENTLOG_HAS_SEQUENCES
    return __rseq_size != 0;
#else
    return false;
#endif
}

/// The reason why rseq cannot be used, and the remedy.
finding missing_rseq() {
    if (is_rseq_registered()) {
        return variable("EVENTLOG_RSEQ") == "off"
                   ? finding{missing, "EVENTLOG_RSEQ=off forbids them",
                             and_one_ring("Unset EVENTLOG_RSEQ.")}
                   : finding{missing, "membarrier is missing", and_one_ring("See membarrier.")};
    }
    if (EVENTLOG_HAS_SEQUENCES == 0) {
        return {missing, "not with this processor or C library",
                and_one_ring("Build for x86-64 with glibc 2.35 or later.")};
    }
    if (!kernel_has_rseq()) {
        return {missing, "the kernel has none, or a sandbox hides them",
                and_one_ring("Use a kernel with CONFIG_RSEQ, or allow the call rseq.")};
    }
    if (variable("GLIBC_TUNABLES").find("glibc.pthread.rseq=0") != std::string_view::npos) {
        return {missing, "GLIBC_TUNABLES turns them off",
                and_one_ring("Remove glibc.pthread.rseq=0 from GLIBC_TUNABLES.")};
    }
    return {missing, "glibc has registered none",
            and_one_ring("Use glibc 2.35 or later, and start the program without tools that "
                         "register their own.")};
}

}  // namespace

check_result check_rseq(const machine_facts& machine) {
    if (machine.has_rseq) {
        return {{good, "Restartable sequences can be used: emitting is fast."},
                {good, "per-CPU rings, without locks"}};
    }
    return {{limited,
             "Restartable sequences cannot be used: all threads share one ring, and emitting is "
             "slower. They need glibc 2.35, membarrier, and neither EVENTLOG_RSEQ=off nor "
             "GLIBC_TUNABLES that turn them off.",
             "unset EVENTLOG_RSEQ GLIBC_TUNABLES"},
            missing_rseq()};
}

check_result check_membarrier(const machine_facts& machine) {
    if (machine.membarrier_error == 0) {
        return {good, "restarts sequences that run"};
    }
    return {missing,
            fmt::format("cannot restart sequences ({})", std::strerror(machine.membarrier_error)),
            "Use Linux 5.10 or later with CONFIG_RSEQ, and allow membarrier in the sandbox."};
}

check_result check_futex(const machine_facts& /*machine*/) {
    std::uint32_t unused = 0;
    if (::syscall(SYS_futex, &unused, FUTEX_WAKE, 1, nullptr, nullptr, 0) == 0) {
        return {good, "a full buffer wakes its reader"};
    }
    return {missing, fmt::format("refused ({})", std::strerror(errno)),
            "Allow futex in the sandbox. Until then readers poll every 10 ms."};
}

check_result check_clock(const machine_facts& /*machine*/) {
    const core::tsc_choice choice = core::configured_tsc_choice();
    const core::tsc_properties facts = core::probe_tsc();
    const bool is_counter = core::select_clock(choice, facts) == EVENTLOG_CLOCK_TSC;
    if (choice == core::tsc_choice::invalid) {
        return {limited,
                fmt::format("{}: EVENTLOG_TSC is neither on, off nor auto",
                            is_counter ? "tsc" : "monotonic"),
                "Set EVENTLOG_TSC to on, off or auto. Until then it counts as auto."};
    }
    if (choice == core::tsc_choice::off) {
        return {limited, "monotonic: EVENTLOG_TSC=off forbids the tsc",
                fmt::format("Unset EVENTLOG_TSC. {}", slower)};
    }
    if (is_counter && (!facts.is_invariant || !facts.is_trusted)) {
        return {limited,
                facts.is_invariant ? "tsc: by EVENTLOG_TSC=on, the kernel does not offer it"
                                   : "tsc: by EVENTLOG_TSC=on, its rate may change",
                "Unset EVENTLOG_TSC if times are wrong or out of order."};
    }
    if (is_counter) {
        return {good, "tsc: at a constant rate, the same on all CPUs"};
    }
    if (!facts.is_trusted) {
        return {limited, "monotonic: the kernel does not offer the tsc",
                fmt::format("The kernel's log has the reason (dmesg | grep -i tsc). {}", slower)};
    }
    return {limited, "monotonic: the processor's tsc has no constant rate",
            fmt::format("Use a processor or a virtual machine with an invariant tsc. {}", slower)};
}

check_result check_cpus(const machine_facts& machine) {
    const system_cpus cpus = read_cpus();
    const auto online = std::count(cpus.online.begin(), cpus.online.end(), true);
    if (!machine.has_rseq) {
        return {limited, fmt::format("{} online of {}, one ring for all", online, cpus.possible),
                "See rseq, which gives each CPU a ring."};
    }
    return {good, fmt::format("{} online of {}, each with a ring, and a shared one", online,
                              cpus.possible)};
}

}  // namespace elog::doctor
