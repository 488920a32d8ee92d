// SPDX-License-Identifier: MIT
//
// A function of the application and its context, replaced as one.
//
// A reader may be a signal handler, so it does not wait: a generation, odd while the pair is being
// replaced, shows whether the values belong together. (All members are atomics, stored with release
// and loaded with acquire, so no fence is needed: a reader that sees any part of a replacement also
// sees its odd generation.)
#pragma once

#include <atomic>
#include <cstdint>

namespace eventlog::core {

/// A test replaces `Atomic` to execute all interleavings.
template <class Function, template <class> class Atomic = std::atomic>
class callback {
  public:
    struct pair {
        Function function = nullptr;
        void* context = nullptr;
        /// Distinguishes a replacement from the previous pair, even if both are equal.
        std::uint64_t generation = 0;
    };

    /// Under the registry lock, which forks wait for, too.
    void replace(Function function, void* context) noexcept {
        const std::uint64_t before = generation_.load(std::memory_order_relaxed);
        generation_.store(before + 1, std::memory_order_relaxed);
        function_.store(function, std::memory_order_release);
        context_.store(context, std::memory_order_release);
        // Sequentially consistent: see notification_state::running_thread.
        generation_.store(before + 2, std::memory_order_seq_cst);
    }

    /// Returns false immediately if the pair is being replaced. Async-signal-safe.
    [[nodiscard]] bool read(pair& found) const noexcept {
        found.generation = generation_.load(std::memory_order_seq_cst);
        found.function = function_.load(std::memory_order_acquire);
        found.context = context_.load(std::memory_order_acquire);
        return found.generation % 2 == 0 &&
               found.generation == generation_.load(std::memory_order_relaxed);
    }

  private:
    Atomic<std::uint64_t> generation_{0};
    Atomic<Function> function_{nullptr};
    Atomic<void*> context_{nullptr};
};

}  // namespace eventlog::core
