// SPDX-License-Identifier: MIT
//
// The pages of a provider's gate: gate words, behind them the counters, with a word for each CPU.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "platform/startup_section.hpp"
#include "ring/gate_layout.hpp"

namespace eventlog::core {

/// The gate of unregistered providers. Its words are never written, its counters never read.
extern std::array<std::uint32_t, (EVENTLOG_GATE_SIZE + EVENTLOG_COUNTERS_SIZE) / 4> null_gate;
extern const std::atomic<std::uint32_t*> null_gate_pointer;

/// Layout of written_by_cpu in this process: `stride` bytes from one CPU's word to the next, for
/// CPUs below `cpus`. Set before the first provider is published.
struct counter_layout {
    std::uint32_t cpus = 0;
    std::uint32_t stride = 0;
};
[[EVENTLOG_STARTUP_SECTION]] extern constinit counter_layout process_counter_layout;

/// The largest stride for which the words of that many CPUs fit.
[[nodiscard]] constexpr counter_layout counter_layout_for(std::uint64_t cpus) noexcept {
    std::uint32_t stride = 64;  // a cache line
    while (stride > sizeof(std::uint64_t) &&
           cpus * stride > sizeof(eventlog_counters_page::written_by_cpu)) {
        stride /= 2;
    }
    const std::uint64_t room = sizeof(eventlog_counters_page::written_by_cpu) / stride;
    return {static_cast<std::uint32_t>(cpus < room ? cpus : room), stride};
}

/// Called once per process.
void set_counter_layout() noexcept;

}  // namespace eventlog::core
