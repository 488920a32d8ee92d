// SPDX-License-Identifier: MIT
//
// Counts the threads inside a code section, so that another thread can find out that there are
// none. Async-signal-safe.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "platform/process.hpp"

namespace eventlog::core {

class thread_count {
  public:
    /// Counts the calling thread while it lives. Sequentially consistent: if another thread stores
    /// a value and then calls is_zero(), either the counted thread loads that value, or is_zero()
    /// returns false.
    class user {
      public:
        explicit user(thread_count& count) noexcept
            : part_(count.parts_[known_thread_id % count.parts_.size()].users) {
            part_.fetch_add(1, std::memory_order_seq_cst);
        }
        ~user() { part_.fetch_sub(1, std::memory_order_release); }
        user(const user&) = delete;
        user& operator=(const user&) = delete;

      private:
        std::atomic<std::uint32_t>& part_;
    };

    [[nodiscard]] bool is_zero() const noexcept {
        for (const part& each : parts_) {
            if (each.users.load(std::memory_order_seq_cst) != 0) {
                return false;
            }
        }
        return true;
    }

    /// Called in a forked child, where the counted threads do not exist.
    void reset() noexcept {
        for (part& each : parts_) {
            each.users.store(0, std::memory_order_relaxed);
        }
    }

  private:
    /// Several, so that threads on different CPUs do not share a cache line. Threads without a
    /// known id share the first one.
    struct alignas(64) part {
        std::atomic<std::uint32_t> users{0};
    };
    std::array<part, 16> parts_{};
};

}  // namespace eventlog::core
