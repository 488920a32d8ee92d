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
/// addresses waiters of this process's own memory only, and these words are shared. If the kernel
/// refuses, `fallback` changes the word. False if the word is behind the end of the file.
template <class Fallback>
bool change(std::uint32_t* word, unsigned operation, unsigned operand, Fallback fallback) noexcept {
    const unsigned encoded = operation << 28U | unsigned{FUTEX_OP_CMP_EQ} << 24U | operand << 12U;
    const futex_outcome found =
        outcome_of(::syscall(SYS_futex, word, FUTEX_WAKE_OP_PRIVATE, 0, nullptr, word, encoded));
    if (found == futex_outcome::refused) {
        fallback(std::atomic_ref(*word));
    }
    return found != futex_outcome::truncated;
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
    return change(word, or_shifted, bit, [bit](auto target) { target.fetch_or(1U << bit); });
}

bool futex_clear_bit(std::uint32_t* word, unsigned bit) noexcept {
    return change(word, and_not_shifted, bit,
                  [bit](auto target) { target.fetch_and(~(1U << bit)); });
}

bool futex_increment(std::uint32_t* word) noexcept {
    return change(word, FUTEX_OP_ADD, 1, [](auto target) { target.fetch_add(1); });
}

bool futex_store_flag(std::uint32_t* word, bool value) noexcept {
    const unsigned number = value ? 1 : 0;
    return change(word, FUTEX_OP_SET, number, [number](auto target) { target.store(number); });
}

}  // namespace eventlog::core
