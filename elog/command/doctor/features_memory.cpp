// SPDX-License-Identifier: MIT
//
// What the way through memory can use: sequences, clocks, CPUs, and the directory.
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

#include <fmt/core.h>

#include "base/cpus.hpp"
#include "discovery/machine.hpp"
#include "doctor/features.hpp"
#include "doctor/health.hpp"
#include "ring/clock.hpp"
#include "ring/rseq.hpp"
#include "ring/rseq_sequence.hpp"
#include "ring/subscription_slots.hpp"
#include "shm/directory.hpp"

namespace elog {
namespace {

namespace core = eventlog::core;

constexpr const char* one_ring = "Until then all threads share one ring.";

std::string with_what_follows(const char* remedy) {
    return fmt::format("{} {}", remedy, one_ring);
}

std::string_view variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string_view{} : std::string_view(value);
}

/// Asks for what makes no sense: only a kernel that knows rseq notices.
bool kernel_has_rseq() {
    return ::syscall(SYS_rseq, nullptr, 0U, 0, 0U) == 0 || errno != ENOSYS;
}

/// Whether glibc has registered sequences of its own accord.
bool is_rseq_registered() {
#if EVENTLOG_HAS_SEQUENCES
    return __rseq_size != 0;
#else
    return false;
#endif
}

feature unregistered_rseq() {
    if (EVENTLOG_HAS_SEQUENCES == 0) {
        return {"rseq", availability::no, "not with this processor or C library",
                with_what_follows("Build for x86-64 with glibc 2.35 or later.")};
    }
    if (!kernel_has_rseq()) {
        return {"rseq", availability::no, "the kernel has none, or a sandbox hides them",
                with_what_follows("Take a kernel with CONFIG_RSEQ, or allow the call rseq.")};
    }
    if (variable("GLIBC_TUNABLES").find("glibc.pthread.rseq=0") != std::string_view::npos) {
        return {"rseq", availability::no, "GLIBC_TUNABLES turns them off",
                with_what_follows("Take glibc.pthread.rseq=0 out of GLIBC_TUNABLES.")};
    }
    return {"rseq", availability::no, "glibc has registered none",
            with_what_follows("Take glibc 2.35 or later, and start the program without tools that "
                              "register their own.")};
}

feature find_rseq(bool can_be_restarted) {
    core::configure_rseq(can_be_restarted);
    if (core::rseq_available()) {
        return {"rseq", availability::yes, "per-CPU rings, without locks", {}};
    }
    if (!is_rseq_registered()) {
        return unregistered_rseq();
    }
    if (variable("EVENTLOG_RSEQ") == "off") {
        return {"rseq", availability::no, "EVENTLOG_RSEQ=off forbids them",
                with_what_follows("Unset EVENTLOG_RSEQ.")};
    }
    return {"rseq", availability::no, "they take membarrier", with_what_follows("See membarrier.")};
}

feature find_membarrier(bool can_be_restarted) {
    if (can_be_restarted) {
        return {"membarrier", availability::yes, "restarts sequences that run", {}};
    }
    return {"membarrier", availability::no,
            fmt::format("cannot restart sequences ({})", std::strerror(errno)),
            "Take Linux 5.10 or later with CONFIG_RSEQ, and let the sandbox allow membarrier."};
}

feature find_futex() {
    std::uint32_t nobody_waits = 0;
    if (::syscall(SYS_futex, &nobody_waits, FUTEX_WAKE, 1, nullptr, nullptr, 0) == 0) {
        return {"futex", availability::yes, "a full buffer wakes its reader", {}};
    }
    return {"futex", availability::no, fmt::format("refused ({})", std::strerror(errno)),
            "Let the sandbox allow futex. Until then readers look every 10 ms."};
}

constexpr const char* slower = "Until then reading the time takes longer.";

/// What EVENTLOG_TSC has changed; nothing if it has no effect.
std::optional<feature> find_chosen_clock(core::tsc_choice choice,
                                         const core::tsc_properties& facts) {
    const bool is_counter = core::select_clock(choice, facts) == EVENTLOG_CLOCK_TSC;
    if (choice == core::tsc_choice::invalid) {
        return feature{"clock", availability::limited,
                       fmt::format("{}: EVENTLOG_TSC is neither on, off nor auto",
                                   is_counter ? "tsc" : "monotonic"),
                       "Set EVENTLOG_TSC to on, off or auto. Until then it counts as auto."};
    }
    if (choice == core::tsc_choice::off) {
        return feature{"clock", availability::limited,
                       "monotonic: EVENTLOG_TSC=off forbids the tsc",
                       fmt::format("Unset EVENTLOG_TSC. {}", slower)};
    }
    if (is_counter && (!facts.is_invariant || !facts.is_trusted)) {
        return feature{"clock", availability::limited,
                       facts.is_invariant ? "tsc: by EVENTLOG_TSC=on, the kernel does not offer it"
                                          : "tsc: by EVENTLOG_TSC=on, its rate may change",
                       "Unset EVENTLOG_TSC if times are wrong or out of order."};
    }
    return std::nullopt;
}

feature find_clock() {
    const core::tsc_choice choice = core::configured_tsc_choice();
    const core::tsc_properties facts = core::probe_tsc();
    if (const std::optional<feature> chosen = find_chosen_clock(choice, facts)) {
        return *chosen;
    }
    if (core::select_clock(choice, facts) == EVENTLOG_CLOCK_TSC) {
        return {"clock", availability::yes, "tsc: at a constant rate, the same on all CPUs", {}};
    }
    if (!facts.is_trusted) {
        return {"clock", availability::limited, "monotonic: the kernel does not offer the tsc",
                fmt::format("The kernel's log says why (dmesg | grep -i tsc). {}", slower)};
    }
    return {"clock", availability::limited, "monotonic: the processor's tsc has no constant rate",
            fmt::format("Take a processor or a virtual machine with an invariant tsc. {}", slower)};
}

feature find_cpus() {
    const system_cpus cpus = read_cpus();
    const auto online = std::count(cpus.online.begin(), cpus.online.end(), true);
    if (!core::rseq_available()) {
        return {"cpus", availability::limited,
                fmt::format("{} online of {}, one ring for all", online, cpus.possible),
                "CPUs have rings of their own where there is rseq."};
    }
    return {
        "cpus",
        availability::yes,
        fmt::format("{} online of {}, each with a ring, and a shared one", online, cpus.possible),
        {}};
}

/// As elog doctor finds it.
feature find_directory() {
    const finding found = examine_directory();
    if (found.state == condition::good) {
        return {"directory", availability::yes, core::current_directory().text.data(), {}};
    }
    std::string remedy = found.text;
    if (!found.repair.empty()) {
        remedy += fmt::format(" {}: {}", found.as_root ? "As root" : "Run", found.repair);
    }
    return {"directory", availability::no, "programs and elog cannot meet", std::move(remedy)};
}

feature find_memory() {
    const core::directory_path path = core::current_directory();
    if (path.too_long) {
        return {"memory", availability::no, "there is no directory", "See directory."};
    }
    const std::optional<recording_space> room =
        space_for_recordings(std::filesystem::absolute(path.text.data()));
    if (!room) {
        return {"memory", availability::no,
                fmt::format("not to be found out ({})", std::strerror(errno)), "See directory."};
    }
    const std::string numbers =
        room->has_limit ? fmt::format("{} MiB left, {} MiB a recording", room->left, room->wanted)
                        : fmt::format("as much as there is, {} MiB a recording", room->wanted);
    if (!room->is_enough()) {
        return {"memory", availability::no, numbers,
                "Give the file system more room, or record with a smaller --buffer-size."};
    }
    if (!room->is_memory) {
        return {"memory", availability::limited, numbers + ", not on a tmpfs",
                "Set EVENTLOG_DIR to a folder on a tmpfs: now emitting may wait for a disk."};
    }
    return {"memory", availability::yes, numbers, {}};
}

}  // namespace

void find_memory_features(std::vector<feature>& features) {
    const bool can_be_restarted = core::register_membarrier();
    const feature barrier = find_membarrier(can_be_restarted);  // errno is still its
    features.push_back(find_rseq(can_be_restarted));
    features.push_back(barrier);
    features.push_back(find_futex());
    features.push_back(find_clock());
    features.push_back(find_cpus());
    features.push_back(find_directory());
    features.push_back(find_memory());
}

}  // namespace elog
