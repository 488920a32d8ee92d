// SPDX-License-Identifier: MIT
//
// Checks that values and names of an enumeration are unique.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "provider/definition.hpp"

namespace eventlog::core {
namespace {

/// Sorts the values of an enumeration through an array of their indexes.
class value_order {
  public:
    value_order(const eventlog_definition& definition,
                const eventlog_enumeration_definition& enumeration,
                std::span<std::uint16_t> numbers) noexcept
        : definition_(definition), enumeration_(enumeration), numbers_(numbers) {
        for (std::size_t i = 0; i < numbers_.size(); ++i) {
            numbers_[i] = static_cast<std::uint16_t>(i);
        }
    }

    /// Whether two values are equivalent under `less`; `first` and `second` are their indexes.
    template <class Less>
    [[nodiscard]] bool find_duplicate(Less less, std::uint32_t& first,
                                      std::uint32_t& second) noexcept {
        const auto in_order = [&](std::uint16_t one, std::uint16_t other) {
            return less(at(one), at(other));
        };
        std::sort(numbers_.begin(), numbers_.end(), in_order);
        const auto found =
            std::adjacent_find(numbers_.begin(), numbers_.end(),
                               [&](auto one, auto other) { return !in_order(one, other); });
        if (found == numbers_.end()) {
            return false;
        }
        first = std::min(found[0], found[1]);
        second = std::max(found[0], found[1]);
        return true;
    }

    [[nodiscard]] const eventlog_value_definition& at(std::uint32_t number) const noexcept {
        return item(enumeration_.values, definition_.value_size, number);
    }

  private:
    const eventlog_definition& definition_;
    const eventlog_enumeration_definition& enumeration_;
    std::span<std::uint16_t> numbers_;
};

}  // namespace

bool check_distinct_values(const eventlog_definition& definition,
                           const eventlog_enumeration_definition& enumeration,
                           definition_error& error) noexcept {
    if (enumeration.value_count < 2) {
        return true;
    }
    const std::unique_ptr<void, malloc_deleter> memory(
        std::malloc(enumeration.value_count * sizeof(std::uint16_t)));
    if (memory == nullptr) {
        return error.set_no_memory(definition.name);
    }
    value_order order(definition, enumeration,
                      {static_cast<std::uint16_t*>(memory.get()), enumeration.value_count});
    std::uint32_t first = 0;
    std::uint32_t second = 0;
    const auto by_name = [](const auto& one, const auto& other) {
        return std::strcmp(one.name, other.name) < 0;
    };
    if (order.find_duplicate(by_name, first, second)) {
        return error.set(EVENTLOG_ERROR_DUPLICATE,
                         "Values %u and %u of enumeration %s have the same name, %s. Rename one of "
                         "them.",
                         first, second, enumeration.name, order.at(first).name);
    }
    const auto by_value = [](const auto& one, const auto& other) {
        return one.value < other.value;
    };
    if (order.find_duplicate(by_value, first, second)) {
        return error.set(EVENTLOG_ERROR_DUPLICATE,
                         "Values %u (%s) and %u (%s) of enumeration %s are both %lld. Leave one of "
                         "them out.",
                         first, order.at(first).name, second, order.at(second).name,
                         enumeration.name, static_cast<long long>(order.at(first).value));
    }
    return true;
}

}  // namespace eventlog::core
