// SPDX-License-Identifier: MIT
//
// Coverage of sequences: checks that each instruction of a sequence has been executed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "scenario.hpp"
#include "sequences.hpp"

namespace eventlog::test {

class coverage {
  public:
    void add(const trace& met);

    /// Visits the instructions of the sequence in order; describes the first that has not run, or
    /// returns an empty text.
    [[nodiscard]] std::string first_uncovered_in(const sequence& of) const;

    /// The number of executed instructions of the sequence.
    [[nodiscard]] std::size_t count(const sequence& of) const;

  private:
    std::map<std::uint64_t, std::uint64_t> sizes_;  // of instructions, by address
};

}  // namespace eventlog::test
