// SPDX-License-Identifier: MIT
#include "shm/futex_atomic.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace eventlog::core {
namespace {

enum class futex_outcome { done, truncated, refused };

futex_outcome outcome_of(long result) noexcept {
    return result >= 0       ? futex_outcome::done
           : errno == EFAULT ? futex_outcome::truncated
                             : futex_outcome::refused;
}

/// FUTEX_WAKE_OP changes the second word, then wakes waiters. There are none: the private flag
/// addresses waiters of this process's own memory only, and these words are shared.
futex_outcome change(std::uint32_t* word, unsigned operation, unsigned operand) noexcept {
    const unsigned encoded = operation << 28U | unsigned{FUTEX_OP_CMP_EQ} << 24U | operand << 12U;
    return outcome_of(::syscall(SYS_futex, word, FUTEX_WAKE_OP_PRIVATE, 0, nullptr, word, encoded));
}

constexpr unsigned or_shifted = unsigned{FUTEX_OP_OR} | unsigned{FUTEX_OP_OPARG_SHIFT};
constexpr unsigned and_not_shifted = unsigned{FUTEX_OP_ANDN} | unsigned{FUTEX_OP_OPARG_SHIFT};

}  // namespace

futex_comparison futex_compare(std::uint32_t* word, std::uint32_t value) noexcept {
    // Compares the word, then wakes no waiters and moves none.
    const long result =
        ::syscall(SYS_futex, word, FUTEX_CMP_REQUEUE_PRIVATE, 0, nullptr, word, value);
    if (result < 0 && errno == EAGAIN) {
        return futex_comparison::different;
    }
    const futex_outcome found = outcome_of(result);
    if (found != futex_outcome::refused) {
        return found == futex_outcome::done ? futex_comparison::equal : futex_comparison::truncated;
    }
    return std::atomic_ref(*word).load(std::memory_order_acquire) == value
               ? futex_comparison::equal
               : futex_comparison::different;
}

bool futex_set_bit(std::uint32_t* word, unsigned bit) noexcept {
    const futex_outcome found = change(word, or_shifted, bit);
    if (found == futex_outcome::refused) {
        std::atomic_ref(*word).fetch_or(1U << bit);
    }
    return found != futex_outcome::truncated;
}

bool futex_clear_bit(std::uint32_t* word, unsigned bit) noexcept {
    const futex_outcome found = change(word, and_not_shifted, bit);
    if (found == futex_outcome::refused) {
        std::atomic_ref(*word).fetch_and(~(1U << bit));
    }
    return found != futex_outcome::truncated;
}

bool futex_increment(std::uint32_t* word) noexcept {
    const futex_outcome found = change(word, FUTEX_OP_ADD, 1);
    if (found == futex_outcome::refused) {
        std::atomic_ref(*word).fetch_add(1);
    }
    return found != futex_outcome::truncated;
}

bool futex_store_flag(std::uint32_t* word, bool value) noexcept {
    const futex_outcome found = change(word, FUTEX_OP_SET, value ? 1 : 0);
    if (found == futex_outcome::refused) {
        std::atomic_ref(*word).store(value ? 1 : 0);
    }
    return found != futex_outcome::truncated;
}

}  // namespace eventlog::core
