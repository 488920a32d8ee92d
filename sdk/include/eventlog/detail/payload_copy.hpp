// SPDX-License-Identifier: MIT
//
// Copies words and texts into a payload on the stack.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace eventlog {
inline namespace v0 {
namespace detail {

using two_words [[gnu::vector_size(16)]] = std::uint64_t;

/// Writes the word of a variable field whose bytes begin `distance` bytes behind it. Both numbers
/// are truncated to 16 bits: a payload that exceeds these exceeds the largest record, so the ring
/// rejects and counts it.
[[gnu::always_inline]] inline void put_rel_loc(unsigned char* target, std::size_t size,
                                               std::size_t distance) noexcept {
    const auto word = static_cast<std::uint32_t>(size << 16U | (distance & 0xffffU));
    std::memcpy(target, &word, sizeof word);
}

/// Copies `Part` bytes from the begin and from the end, which may overlap.
template <class Part>
[[gnu::always_inline]] inline void copy_ends(unsigned char* target, const unsigned char* source,
                                             std::size_t size) noexcept {
    Part first;
    Part last;
    std::memcpy(&first, source, sizeof first);
    std::memcpy(&last, source + size - sizeof last, sizeof last);
    std::memcpy(target, &first, sizeof first);
    std::memcpy(target + size - sizeof last, &last, sizeof last);
}

/// A memcpy for short texts; 8 to 16 bytes, the length of most names and reasons, come first.
/// Inlined, because a call would make the enclosing function save registers every time.
[[gnu::always_inline]] inline void copy_text(unsigned char* target, const void* source,
                                             std::size_t size) noexcept {
    const auto* from = static_cast<const unsigned char*>(source);
    if (size - 8 <= 8) [[likely]] {
        copy_ends<std::uint64_t>(target, from, size);
    } else if (size > 16) {
        std::size_t done = 0;
        for (; done + sizeof(two_words) < size; done += sizeof(two_words)) {
            std::memcpy(target + done, from + done, sizeof(two_words));
        }
        done = size - sizeof(two_words);
        std::memcpy(target + done, from + done, sizeof(two_words));
    } else if (size >= 4) {
        copy_ends<std::uint32_t>(target, from, size);
    } else if (size != 0) {
        target[0] = from[0];
        target[size / 2] = from[size / 2];
        target[size - 1] = from[size - 1];
    }
}

/// Stores 16 bytes at a time, as the ring loads them: processors forward a load only from a single
/// recent store, and otherwise wait for the cache.
template <std::size_t Count>
[[gnu::always_inline]] inline void put_words(unsigned char* target,
                                             const std::uint64_t (&words)[Count]) noexcept {
    for (std::size_t i = 0; i + 1 < Count; i += 2) {
        const two_words pair{words[i], words[i + 1]};
        std::memcpy(target + 8 * i, &pair, sizeof pair);
    }
    if constexpr (Count % 2 != 0) {
        std::memcpy(target + 8 * (Count - 1), &words[Count - 1], 8);
    }
}

}  // namespace detail
}  // namespace v0
}  // namespace eventlog
