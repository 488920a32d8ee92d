// SPDX-License-Identifier: MIT
//
// Atomic access to words of a file that other processes may truncate at any time.
//
// An access through a mapping behind the end of the file raises SIGBUS, and a library must not
// install a handler. futex(2) compares and changes a word atomically in the kernel and fails with
// EFAULT instead. Where the kernel refuses (a sandbox may forbid it), the word is accessed
// directly.
//
// Each function is a system call, so it is for rare operations and never for an emit.
#pragma once

#include <cstdint>

namespace eventlog::core {

enum class futex_comparison {
    equal,
    different,
    truncated,  // the word is behind the end of the file
};

/// Whether the word has that value, compared atomically. Precondition: a writable shared mapping.
[[nodiscard]] futex_comparison futex_compare(std::uint32_t* word, std::uint32_t value) noexcept;

/// Change the word atomically, with a full fence. False if the word is behind the end of the file.
[[nodiscard]] bool futex_set_bit(std::uint32_t* word, unsigned bit) noexcept;
[[nodiscard]] bool futex_clear_bit(std::uint32_t* word, unsigned bit) noexcept;
[[nodiscard]] bool futex_increment(std::uint32_t* word) noexcept;
[[nodiscard]] bool futex_store_flag(std::uint32_t* word, bool value) noexcept;  // stores 1 or 0

}  // namespace eventlog::core
