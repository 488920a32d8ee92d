// SPDX-License-Identifier: MIT
//
// Whether every instruction of a sequence has been met: not only those that some run went through.
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

    /// Goes through the bytes of the sequence, from instruction to instruction; says where it met
    /// one that has not run, nothing if all have.
    [[nodiscard]] std::string first_uncovered_in(const sequence& of) const;

    /// How many instructions of the sequence have been met.
    [[nodiscard]] std::size_t count(const sequence& of) const;

  private:
    std::map<std::uint64_t, std::uint64_t> sizes_;  // of instructions, by address
};

}  // namespace eventlog::test
