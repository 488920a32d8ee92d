// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace eventlog::test {

/// A pseudorandom sequence that a seed reproduces.
class random_source {
  public:
    explicit random_source(std::uint32_t seed) : random_(seed) {}

    std::size_t below(std::size_t limit) {
        return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_);
    }
    template <class Value>
    const Value& pick(const std::vector<Value>& from) {
        return from[below(from.size())];
    }

  private:
    std::mt19937 random_;
};

}  // namespace eventlog::test
