// SPDX-License-Identifier: MIT
//
// Bursts of eventlog's events by the calling thread.
#pragma once

#include <sched.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "answer.hpp"

namespace bench {

/// Pins this thread to one CPU for the lifetime of the object. Not longer: threads that it starts
/// would be pinned, too.
class stay_on_cpu {
  public:
    explicit stay_on_cpu(std::size_t cpu) noexcept;
    ~stay_on_cpu();
    stay_on_cpu(const stay_on_cpu&) = delete;
    stay_on_cpu& operator=(const stay_on_cpu&) = delete;

  private:
    cpu_set_t before_{};
};

/// The CPUs that this program may use. A single thread writes on the last.
[[nodiscard]] std::vector<std::size_t> usable_cpus();

/// Emits one burst of the event of that name. Returns nanoseconds for each event. Throws failure.
[[nodiscard]] answer emit_burst(const std::string& event);

/// Returns when the event has a listener. Throws failure after ten seconds without one.
void wait_for_listener(const std::string& event);

/// The number of `retransmission` events that this program has emitted.
[[nodiscard]] answer emitted();
void count_emitted(std::uint64_t count) noexcept;

/// The library's counters of the events that several subscriptions want: written, lost.
[[nodiscard]] answer counters_of_wanted();

}  // namespace bench
