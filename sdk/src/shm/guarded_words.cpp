// SPDX-License-Identifier: MIT
#include "shm/guarded_words.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace eventlog::core {
namespace {

enum class word_outcome { done, gone, refused };

word_outcome outcome_of(long result) noexcept {
    return result >= 0       ? word_outcome::done
           : errno == EFAULT ? word_outcome::gone
                             : word_outcome::refused;
}

/// FUTEX_WAKE_OP changes the second word, then wakes who sleeps there: nobody, because for sleepers
/// of this process alone, as they are meant here, the words are not.
word_outcome change(std::uint32_t* word, unsigned operation, unsigned operand) noexcept {
    const unsigned encoded = operation << 28U | unsigned{FUTEX_OP_CMP_EQ} << 24U | operand << 12U;
    return outcome_of(::syscall(SYS_futex, word, FUTEX_WAKE_OP_PRIVATE, 0, nullptr, word, encoded));
}

constexpr unsigned or_shifted = unsigned{FUTEX_OP_OR} | unsigned{FUTEX_OP_OPARG_SHIFT};
constexpr unsigned and_not_shifted = unsigned{FUTEX_OP_ANDN} | unsigned{FUTEX_OP_OPARG_SHIFT};

}  // namespace

comparison compare_word(std::uint32_t* word, std::uint32_t value) noexcept {
    // Compares, then wakes none and moves none of those who sleep there.
    const long result =
        ::syscall(SYS_futex, word, FUTEX_CMP_REQUEUE_PRIVATE, 0, nullptr, word, value);
    if (result < 0 && errno == EAGAIN) {
        return comparison::different;
    }
    const word_outcome found = outcome_of(result);
    if (found != word_outcome::refused) {
        return found == word_outcome::done ? comparison::equal : comparison::gone;
    }
    return std::atomic_ref(*word).load(std::memory_order_acquire) == value ? comparison::equal
                                                                           : comparison::different;
}

bool set_bit_of(std::uint32_t* word, unsigned bit) noexcept {
    const word_outcome found = change(word, or_shifted, bit);
    if (found == word_outcome::refused) {
        std::atomic_ref(*word).fetch_or(1U << bit);
    }
    return found != word_outcome::gone;
}

bool clear_bit_of(std::uint32_t* word, unsigned bit) noexcept {
    const word_outcome found = change(word, and_not_shifted, bit);
    if (found == word_outcome::refused) {
        std::atomic_ref(*word).fetch_and(~(1U << bit));
    }
    return found != word_outcome::gone;
}

bool add_one_to(std::uint32_t* word) noexcept {
    const word_outcome found = change(word, FUTEX_OP_ADD, 1);
    if (found == word_outcome::refused) {
        std::atomic_ref(*word).fetch_add(1);
    }
    return found != word_outcome::gone;
}

bool set_flag(std::uint32_t* word, bool value) noexcept {
    const word_outcome found = change(word, FUTEX_OP_SET, value ? 1 : 0);
    if (found == word_outcome::refused) {
        std::atomic_ref(*word).store(value ? 1 : 0);
    }
    return found != word_outcome::gone;
}

}  // namespace eventlog::core
