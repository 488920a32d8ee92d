// SPDX-License-Identifier: MIT
//
// Builds bytes of records as producers write them, independently of the code that is tested.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace eventlog::test {

/// Word 0 of a record in a ring. Kind: 0 short, 1 with a context, 2 extended, 3 a marker.
constexpr std::uint64_t record_word(std::uint64_t event, std::uint64_t kind, std::uint64_t size,
                                    std::uint32_t time = 0) {
    return event << 42U | kind << 40U | size << 32U | time;
}

/// Word 1.
constexpr std::uint64_t context_word(std::uint64_t thread, std::uint32_t upper_time = 0) {
    return thread << 32U | upper_time;
}

/// Word 2 of an extended record.
constexpr std::uint64_t extended_word(std::uint64_t size, std::uint64_t cpu = 0,
                                      std::uint64_t flags = 0) {
    return cpu << 32U | flags << 16U | size;
}

inline void append_words(std::vector<std::uint8_t>& bytes,
                         const std::vector<std::uint64_t>& words) {
    const std::size_t begin = bytes.size();
    bytes.resize(begin + words.size() * sizeof(std::uint64_t));
    if (!words.empty()) {
        std::memcpy(bytes.data() + begin, words.data(), bytes.size() - begin);
    }
}

}  // namespace eventlog::test
