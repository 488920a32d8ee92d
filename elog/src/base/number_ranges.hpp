// SPDX-License-Identifier: MIT
//
// A set of numbers, of which most are consecutive.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>

namespace elog {

class number_ranges {
  public:
    /// Ranges must not overlap, unless they have the same first number.
    void insert(std::uint64_t first, std::uint64_t last) {
        last_by_first_.insert_or_assign(first, last);
    }

    void erase(std::uint64_t number) {
        if (!contains(number)) {
            return;
        }
        const auto [first, last] = *std::prev(last_by_first_.upper_bound(number));
        last_by_first_.erase(first);
        if (first < number) {
            last_by_first_.emplace(first, number - 1);
        }
        if (number < last) {
            last_by_first_.emplace(number + 1, last);
        }
    }

    [[nodiscard]] bool contains(std::uint64_t number) const noexcept {
        const auto behind = last_by_first_.upper_bound(number);
        return behind != last_by_first_.begin() && number <= std::prev(behind)->second;
    }

    [[nodiscard]] bool empty() const noexcept { return last_by_first_.empty(); }

  private:
    std::map<std::uint64_t, std::uint64_t> last_by_first_;
};

}  // namespace elog
