// SPDX-License-Identifier: MIT
//
// The ways into a ring, and what makes an event take each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "emitter.hpp"

namespace eventlog::test {

/// What an event meets in the ring of its CPU.
enum class ring_state {
    has_space,  // room in the buffer
    next,       // the buffer is full, the next one is free
    exhausted,  // all buffers are full
};

struct scenario {
    const char* name;
    event_kind kind;
    std::vector<std::size_t> sizes;  // more than one to go through all branches
    ring_state ring;
    bool counted;            // by a sequence of its own, behind the one that writes the record
    const char* tsc = "on";  // EVENTLOG_TSC: whether sequences read the clock themselves

    /// The library's function that the emitter calls.
    [[nodiscard]] std::uint64_t entry() const;
};

/// Together they go through every instruction of every sequence of the library.
[[nodiscard]] const std::vector<scenario>& scenarios();

/// One instruction that has run, and the one behind it.
struct executed_step {
    std::uint64_t address;
    std::uint64_t next;
};

/// What the library did for one event, from its entry to its return.
class trace {
  public:
    trace(std::vector<executed_step> steps, bool counted);

    [[nodiscard]] const std::vector<executed_step>& steps() const { return steps_; }

    /// Whether the event is in the ring, or its loss is, when this instruction is met first.
    [[nodiscard]] bool is_committed_before(std::uint64_t address) const;

  private:
    std::vector<executed_step> steps_;
    std::size_t effect_ = 0;  // the step that does it
};

}  // namespace eventlog::test
