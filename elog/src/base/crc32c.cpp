// SPDX-License-Identifier: MIT
#include "base/crc32c.hpp"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace elog {
namespace {

constexpr std::uint32_t polynomial = 0x82f63b78;  // reflected

constexpr std::array<std::uint32_t, 256> make_table() {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
        std::uint32_t value = byte;
        for (int bit = 0; bit < 8; ++bit) {
            value = (value & 1U) != 0 ? value >> 1U ^ polynomial : value >> 1U;
        }
        table[byte] = value;
    }
    return table;
}

constexpr std::array<std::uint32_t, 256> table = make_table();

#if defined(__x86_64__)

[[gnu::target("sse4.2")]] std::uint32_t crc32c_by_instruction(std::span<const std::uint8_t> bytes,
                                                              std::uint32_t earlier) noexcept {
    std::uint64_t value = ~earlier;
    while (bytes.size() >= sizeof(std::uint64_t)) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data(), sizeof word);
        value = _mm_crc32_u64(value, word);
        bytes = bytes.subspan(sizeof word);
    }
    auto low = static_cast<std::uint32_t>(value);
    for (const std::uint8_t byte : bytes) {
        low = _mm_crc32_u8(low, byte);
    }
    return ~low;
}

#endif

}  // namespace

std::uint32_t crc32c_by_table(std::span<const std::uint8_t> bytes, std::uint32_t earlier) noexcept {
    std::uint32_t value = ~earlier;
    for (const std::uint8_t byte : bytes) {
        value = table[(value ^ byte) & 0xffU] ^ value >> 8U;
    }
    return ~value;
}

std::uint32_t crc32c(std::span<const std::uint8_t> bytes, std::uint32_t earlier) noexcept {
#if defined(__x86_64__)
    static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
    if (has_instruction) {
        return crc32c_by_instruction(bytes, earlier);
    }
#endif
    return crc32c_by_table(bytes, earlier);
}

}  // namespace elog
