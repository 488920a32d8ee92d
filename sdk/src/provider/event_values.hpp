// SPDX-License-Identifier: MIT
//
// A number for each event of a provider, in memory that is allocated before the first one is
// stored. Until then all are 0.
#pragma once

#include <linux/eventlog.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

#include "platform/permanent_memory.hpp"

namespace eventlog::core {

template <class Number>
class event_values {
  public:
    [[nodiscard]] bool is_allocated() const noexcept {
        return values_.load(std::memory_order_acquire) != nullptr;
    }

    /// False if there is no memory. Under the registry lock.
    [[nodiscard]] bool allocate() noexcept {
        if (!is_allocated()) {
            void* memory = allocate_permanently(EVENTLOG_EVENTS_MAX * sizeof(std::atomic<Number>));
            if (memory == nullptr) {
                return false;
            }
            auto* values = static_cast<std::atomic<Number>*>(memory);
            for (std::size_t i = 0; i < EVENTLOG_EVENTS_MAX; ++i) {
                new (values + i) std::atomic<Number>(0);
            }
            values_.store(values, std::memory_order_release);
        }
        return true;
    }

    [[nodiscard]] Number load(std::uint32_t event,
                              std::memory_order order = std::memory_order_relaxed) const noexcept {
        const std::atomic<Number>* values = values_.load(std::memory_order_acquire);
        return values == nullptr ? Number{0} : values[event].load(order);
    }

    /// Precondition: is_allocated().
    [[nodiscard]] std::atomic<Number>& operator[](std::uint32_t event) noexcept {
        return values_.load(std::memory_order_acquire)[event];
    }

  private:
    std::atomic<std::atomic<Number>*> values_{nullptr};
};

}  // namespace eventlog::core
