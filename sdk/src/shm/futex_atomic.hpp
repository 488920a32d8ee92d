// SPDX-License-Identifier: MIT
//
// Words of a file that others may cut short at any moment. Whoever touches, through a mapping, what
// has been cut off is killed by SIGBUS, which a library has no business to catch. The kernel, asked
// to do the same, fails with EFAULT instead: futex(2) compares and changes words for others, each
// in one piece. Where it refuses to (a sandbox may forbid it), the words are touched.
//
// That is a system call for each word: for what happens now and then, and for no emit.
#pragma once

#include <cstdint>

namespace eventlog::core {

enum class futex_comparison {
    equal,
    different,
    truncated,  // the file has been cut off in front of it
};

/// Whether the word, of a shared mapping that may be written to, has that value. Both are looked at
/// in one piece.
[[nodiscard]] futex_comparison futex_compare(std::uint32_t* word, std::uint32_t value) noexcept;

/// What becomes of a word in one piece, with a full fence. False if the word is gone.
[[nodiscard]] bool futex_set_bit(std::uint32_t* word, unsigned bit) noexcept;
[[nodiscard]] bool futex_clear_bit(std::uint32_t* word, unsigned bit) noexcept;
[[nodiscard]] bool futex_increment(std::uint32_t* word) noexcept;
[[nodiscard]] bool futex_store_flag(std::uint32_t* word, bool value) noexcept;  // to 1 or 0

}  // namespace eventlog::core
