// SPDX-License-Identifier: MIT
//
// Counts the threads inside a code section, so that another thread can find out that there are
// none. Async-signal-safe.
//
// A forked child has one thread, which may be inside: a callback, or a signal handler, may fork.
// So each thread remembers where it is counted, and the child counts its thread alone again.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "platform/process.hpp"

namespace eventlog::core {

class thread_count {
    /// Several, so that threads on different CPUs do not share a cache line. Threads without a
    /// known id share the first one.
    struct alignas(64) part {
        std::atomic<std::uint32_t> users{0};
    };

    /// The parts in which the calling thread is counted, with those of the code that it has
    /// interrupted. An array, because an object that a longjmp() has skipped must not be referred
    /// to. Sections inside of more than that many others are not remembered.
    struct own_parts {
        std::uint32_t depth = 0;
        std::array<part*, 7> list{};
    };
    [[gnu::tls_model("initial-exec"),
      gnu::visibility("hidden")]] static constinit thread_local own_parts own;

  public:
    /// Counts the calling thread while it lives. Sequentially consistent: if another thread stores
    /// a value and then calls is_zero(), either the counted thread loads that value, or is_zero()
    /// returns false.
    class user {
      public:
        explicit user(thread_count& count) noexcept
            : part_(count.parts_[known_thread_id % count.parts_.size()]) {
            // First here and last in the destructor: if a handler forks in between, a count may be
            // one too high but never too low.
            const std::uint32_t place = own.depth++;
            std::atomic_signal_fence(std::memory_order_seq_cst);
            if (place < own.list.size()) {
                own.list[place] = &part_;
            }
            std::atomic_signal_fence(std::memory_order_seq_cst);
            part_.users.fetch_add(1, std::memory_order_seq_cst);
        }
        ~user() {
            part_.users.fetch_sub(1, std::memory_order_release);
            std::atomic_signal_fence(std::memory_order_seq_cst);
            --own.depth;
        }
        user(const user&) = delete;
        user& operator=(const user&) = delete;

      private:
        part& part_;
    };

    [[nodiscard]] bool is_zero() const noexcept {
        for (const part& each : parts_) {
            if (each.users.load(std::memory_order_seq_cst) != 0) {
                return false;
            }
        }
        return true;
    }

    /// Called in a forked child, where other threads do not exist. Changes nothing if more sections
    /// are around the fork than are remembered.
    void forget_other_threads() noexcept {
        if (own.depth > own.list.size()) {
            return;
        }
        for (part& each : parts_) {
            std::uint32_t users = 0;
            for (std::uint32_t i = 0; i < own.depth; ++i) {
                users += own.list[i] == &each ? 1 : 0;
            }
            // A store would copy the page.
            if (each.users.load(std::memory_order_relaxed) != users) {
                each.users.store(users, std::memory_order_relaxed);
            }
        }
    }

  private:
    std::array<part, 16> parts_{};
};

inline constinit thread_local thread_count::own_parts thread_count::own{};

}  // namespace eventlog::core
