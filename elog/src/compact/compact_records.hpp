// SPDX-License-Identifier: MIT
//
// The compacted encoding of records: types and constants that encoder and decoder share. The
// section "Compacted records" of elog(5) is the specification.
//
// A stream is a sequence of records and escapes; each begins with a byte, the tag. All numbers are
// little-endian, on every machine.
//
//   record    u8 index << 2 | bytes of delta - 1, delta in 1 to 4 bytes, body
//   define    u8 0xfc, u32 event, u8 mode, u8 fixed, u8 text_word
//   thread    u8 0xfd, u32 thread
//   context   u8 0xfe, u64 time, u32 thread, u16 cpu
//   raw       u8 0xff, u32 event, u32 thread, u64 time, u16 cpu, u16 flags, u16 size, payload
//
// - The dictionary is empty at the beginning and has 63 entries. Definition n, counted from 0, sets
//   entry n % 63. So a full dictionary loses its oldest entry only, and nothing is reset.
// - A record has the event of its entry, the thread and CPU of the context, the time of the context
//   plus delta, modulo 2^64, and no flags. Its time becomes the time of the context. A raw record
//   has its own members, and does not change the context: its time may be of a custom clock.
//
// A payload of mode `text` is a fixed part and one text. The fixed part has a word of 4 bytes for
// the text: n << 16 | distance from the end of the word to the text, where n counts the characters
// and the NUL; 0 is a null text. Since the text begins at the end of the fixed part, n and the
// position of the word determine the word, and the stream has neither word nor NUL. A payload has
// this mode only if exactly its bytes can be restored:
//
//   word = n == 0 ? 0 : n << 16 | fixed - text_word - 4
//   n <= 255, payload size = fixed + n, and the last byte is 0 if n != 0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace elog {

/// How the payload of an event is stored.
enum class compact_mode : std::uint8_t {
    fixed = 0,  // the payload, which always has the size `fixed`
    sized = 1,  // u8 size, payload
    text = 2,   // fixed part without the word of the text, u8 n, n - 1 characters if n != 0
};

struct compact_shape {
    compact_mode mode = compact_mode::sized;
    std::uint8_t fixed = 0;      // modes fixed and text: bytes of the fixed part; otherwise 0
    std::uint8_t text_word = 0;  // mode text: offset of the text's word; otherwise 0
};

struct compact_record {
    std::uint32_t event = 0;  // number in the segment
    std::uint32_t thread = 0;
    std::uint64_t time = 0;
    std::uint16_t cpu = 0;
    std::uint16_t flags = 0;
    std::span<const std::uint8_t> payload{};
};

/// What a record takes from the one before it. Encoder and decoder begin with the same context. Any
/// context is correct; that of the first record saves 15 bytes. In a file it is 0.
struct compact_context {
    std::uint64_t time = 0;
    std::uint32_t thread = 0;
    std::uint16_t cpu = 0;
};

/// The largest payload: that of a record of 64 KiB with the ring's header of 24 bytes.
inline constexpr std::size_t compact_payload_max = 65536 - 24;

inline constexpr std::size_t compact_entries = 63;
inline constexpr std::size_t compact_word_size = 4;   // of a text
inline constexpr std::size_t compact_size_max = 255;  // of a sized payload, and of a text

/// Tags; the lower ones are records.
inline constexpr std::uint8_t compact_define = 0xfc;
inline constexpr std::uint8_t compact_thread = 0xfd;
inline constexpr std::uint8_t compact_set_context = 0xfe;
inline constexpr std::uint8_t compact_raw = 0xff;

/// Sizes with the tag; compact_raw_size is without the payload.
inline constexpr std::size_t compact_define_size = 8;
inline constexpr std::size_t compact_thread_size = 5;
inline constexpr std::size_t compact_context_size = 15;
inline constexpr std::size_t compact_raw_size = 23;

/// Whether an entry of the dictionary may have this shape.
[[nodiscard]] constexpr bool is_valid(compact_shape shape) noexcept {
    switch (shape.mode) {
        case compact_mode::fixed:
            return shape.text_word == 0;
        case compact_mode::sized:
            return shape.fixed == 0 && shape.text_word == 0;
        case compact_mode::text:
            return shape.text_word + compact_word_size <= shape.fixed;
    }
    return false;
}

/// The word of a text of n bytes, in a payload that mode `text` can store.
[[nodiscard]] constexpr std::uint32_t compact_text_word(compact_shape shape,
                                                        std::size_t n) noexcept {
    const std::size_t distance = shape.fixed - shape.text_word - compact_word_size;
    return n == 0 ? 0 : static_cast<std::uint32_t>(n << 16U | distance);
}

/// Converts between a number and its little-endian form.
template <class Number>
[[nodiscard]] constexpr Number little_endian(Number number) noexcept {
    if constexpr (std::endian::native == std::endian::little || sizeof number == 1) {
        return number;
    } else if constexpr (sizeof number == 2) {
        return __builtin_bswap16(number);
    } else if constexpr (sizeof number == 4) {
        return __builtin_bswap32(number);
    } else {
        return __builtin_bswap64(number);
    }
}

template <class Number>
[[nodiscard]] inline Number load_little(const std::uint8_t* from) noexcept {
    Number number{};
    std::memcpy(&number, from, sizeof number);
    return little_endian(number);
}

template <class Number>
inline void store_little(std::uint8_t* to, Number number) noexcept {
    number = little_endian(number);
    std::memcpy(to, &number, sizeof number);
}

/// Two copies of a constant size, which overlap unless they fill the whole part.
template <std::size_t Part>
inline void copy_ends(std::uint8_t* to, const std::uint8_t* from, std::size_t size) noexcept {
    std::array<std::uint8_t, Part> first{};
    std::array<std::uint8_t, Part> last{};
    std::memcpy(first.data(), from, Part);
    std::memcpy(last.data(), from + size - Part, Part);
    std::memcpy(to, first.data(), Part);
    std::memcpy(to + size - Part, last.data(), Part);
}

/// memcpy for parts of payloads. They are so short that the call would take most of the time.
inline void copy_short(std::uint8_t* to, const std::uint8_t* from, std::size_t size) noexcept {
    if (size >= 16) {
        if (size <= 32) {
            copy_ends<16>(to, from, size);
        } else if (size <= 64) {
            copy_ends<32>(to, from, size);
        } else {
            std::memcpy(to, from, size);
        }
    } else if (size >= 8) {
        copy_ends<8>(to, from, size);
    } else if (size >= 4) {
        copy_ends<4>(to, from, size);
    } else if (size != 0) {
        to[0] = from[0];
        to[size / 2] = from[size / 2];
        to[size - 1] = from[size - 1];
    }
}

}  // namespace elog
