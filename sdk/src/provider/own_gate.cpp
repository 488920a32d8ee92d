// SPDX-License-Identifier: MIT
#include "provider/own_gate.hpp"

#include <mutex>

#include "platform/process.hpp"
#include "platform/registry_lock.hpp"
#include "platform/signal_guard.hpp"
#include "ring/clock.hpp"

namespace eventlog::core {
namespace {

// Bounds the system calls of an emit.
constexpr std::uint64_t retry_interval = 1'000'000;

}  // namespace

bool take_own_gate(eventlog_provider& provider) noexcept {
    if (!provider.reads_shared_gate.load(std::memory_order_relaxed)) {
        return true;
    }
    directory where;
    error_text ignored;
    if (!where.open(own_directory(), if_missing::fail, ignored) ||
        !map_own_gate(where, provider.place, provider.gate.load(std::memory_order_relaxed))) {
        return false;
    }
    // Release: a thread that changes the gate's words from now on changes the own ones.
    provider.reads_shared_gate.store(false, std::memory_order_release);
    return true;
}

bool take_own_gate_in_emit(eventlog_provider& provider) noexcept {
    if (!provider.reads_shared_gate.load(std::memory_order_acquire)) {
        return true;
    }
    if (coarse_monotonic_now() < provider.own_gate_not_before.load(std::memory_order_relaxed)) {
        return false;
    }
    const signal_guard guard;
    if (!is_own_process()) {
        return false;
    }
    const registry_lock lock(std::try_to_lock);
    if (!lock.held()) {
        return false;
    }
    const bool is_own = take_own_gate(provider);
    provider.own_gate_not_before.store(is_own ? 0 : coarse_monotonic_now() + retry_interval,
                                       std::memory_order_relaxed);
    return is_own;
}

}  // namespace eventlog::core
