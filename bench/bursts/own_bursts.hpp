// SPDX-License-Identifier: MIT
//
// Bursts of our events, by the thread that is asked for them.
#pragma once

#include <sched.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "answer.hpp"

namespace bench {

/// This thread stays on one CPU for as long as this lives. Not for ever: threads that it starts
/// would stay there, too.
class stay_on_cpu {
  public:
    explicit stay_on_cpu(std::size_t cpu) noexcept;
    ~stay_on_cpu();
    stay_on_cpu(const stay_on_cpu&) = delete;
    stay_on_cpu& operator=(const stay_on_cpu&) = delete;

  private:
    cpu_set_t before_{};
};

/// The CPUs that this program may use; the last is where a single thread writes.
[[nodiscard]] std::vector<std::size_t> usable_cpus();

/// One burst of the event of that name; answers with nanoseconds for each. Throws failure.
[[nodiscard]] answer emit_burst(const std::string& event);

/// Returns when somebody listens to the event. Throws failure if nobody does for ten seconds.
void wait_for_listener(const std::string& event);

/// How many of `retransmission` this program has emitted.
[[nodiscard]] answer emitted();
void count_emitted(std::uint64_t count) noexcept;

/// What the library has counted of the events that several subscriptions want: written, lost.
[[nodiscard]] answer counters_of_wanted();

}  // namespace bench
