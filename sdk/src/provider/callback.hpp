// SPDX-License-Identifier: MIT
//
// A function of the application's and the context that belongs to it, which change as one.
//
// Whoever reads may be a signal handler, so it does not wait: a generation, odd while the pair is
// being replaced, tells whether what was read belongs together. (The pair is in atomics throughout,
// stored with release and loaded with acquire, so that no fence is needed: a reader that sees
// anything of a replacement sees its odd generation, too.)
#pragma once

#include <atomic>
#include <cstdint>

namespace eventlog::core {

/// `Atomic` is another one in a test that goes through all steps.
template <class Function, template <class> class Atomic = std::atomic>
class callback {
  public:
    struct pair {
        Function function = nullptr;
        void* context = nullptr;
        /// Tells a replacement from what was there before, even if it is the same again.
        std::uint64_t generation = 0;
    };

    /// One thread at a time: under the registry's lock, which forks wait for, too.
    void replace(Function function, void* context) noexcept {
        const std::uint64_t before = generation_.load(std::memory_order_relaxed);
        generation_.store(before + 1, std::memory_order_relaxed);
        function_.store(function, std::memory_order_release);
        context_.store(context, std::memory_order_release);
        // Sequentially consistent: see watcher::running_thread.
        generation_.store(before + 2, std::memory_order_seq_cst);
    }

    /// Returns false, at once, if the pair is being replaced right now. Async-signal-safe.
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
