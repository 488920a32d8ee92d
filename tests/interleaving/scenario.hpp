// SPDX-License-Identifier: MIT
//
// The paths of an event into a ring, and the conditions of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "emitter.hpp"

namespace eventlog::test {

/// The state of the ring of the event's CPU.
enum class ring_state {
    has_space,      // the record fits into the buffer, and has its context
    next,           // the buffer is full, the next one is free
    exhausted,      // all buffers are full
    other_context,  // as has_space, but the last record is that of another thread
};

struct scenario {
    const char* name;
    event_kind kind;
    std::vector<std::size_t> sizes;  // several, for all branches
    ring_state ring;
    std::size_t last_sequences;  // their number, from the one that commits to the event's last one
    const char* tsc = "on";      // EVENTLOG_TSC: whether sequences read the clock
    bool has_other_route = false;  // another bit of the gate word, which keeps the fast path away

    /// The library's function that the emitter calls.
    [[nodiscard]] std::uint64_t entry() const;
};

/// Together they execute each instruction of each sequence of the library.
[[nodiscard]] const std::vector<scenario>& scenarios();

/// An executed instruction, and the next one.
struct executed_step {
    std::uint64_t address;
    std::uint64_t next;
};

/// The instructions of the library for one event, from entry to return.
class trace {
  public:
    trace(std::vector<executed_step> steps, std::size_t last_sequences);

    [[nodiscard]] const std::vector<executed_step>& steps() const { return steps_; }

    /// Whether the event or its loss is in the ring when this instruction is first reached.
    [[nodiscard]] bool is_committed_before(std::uint64_t address) const;

  private:
    std::vector<executed_step> steps_;
    std::size_t effect_ = 0;  // the step that commits
};

}  // namespace eventlog::test
