// SPDX-License-Identifier: MIT
//
// Call sites whose machine code run.py looks at. Each stands between two calls that the compiler
// knows nothing about, so that what a site costs is what stands between them on the hot path.
//
// Above each function stands what run.py is to find:
//     // expect: gate              one load, one test, one jump, and nothing put in front of
//     begin()
//     // expect complaint: TEXT    more than that, and TEXT in what run.py says about it
// The latter are what a site costs that should have been written with emit_lazily, and the proof
// that run.py sees it. Of functions that emit an event that is in memory already, what they do if
// somebody listens:
//     // expect copy: N bytes         it is read once, in whole words, and nothing is done to these
//     // expect copy complaint: TEXT  more than that
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <eventlog/eventlog.hpp>

namespace sites {

struct numbers {
    std::uint64_t sequence;
    std::uint32_t bytes;
    std::uint32_t window;
};
struct described {
    std::uint64_t sequence;
    std::string_view reason;
    std::uint32_t bytes;
};
struct named {
    const char* name;
    std::uint64_t sequence;
};
struct owning {
    std::uint64_t sequence;
    std::string reason;
};
/// More than the registers for arguments can carry, of all kinds.
struct wide {
    std::uint64_t first;
    std::int64_t second;
    std::uint32_t third;
    std::int32_t fourth;
    std::string_view fifth;
    double sixth;
    float seventh;
    std::uint16_t eighth;
    std::int8_t ninth;
    bool tenth;
    char eleventh;
    std::string_view twelfth;
    std::uint64_t thirteenth;
};

/// Byte for byte its payload, and too large for registers.
struct block {
    std::uint64_t sequence;
    std::array<std::uint32_t, 30> samples;
};

/// Not its payload, and larger than what compilers keep in registers.
struct long_row {
    std::uint64_t a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p;
    std::string_view reason;
    std::string_view peer;
};

/// An array that travels by address, beside a text that owns its characters.
struct sampled {
    std::array<std::uint32_t, 64> samples;
    std::string reason;
};
/// The same with a text that does not.
struct sampled_view {
    std::array<std::uint32_t, 64> samples;
    std::string_view reason;
};

enum class state : std::uint8_t { idle, busy, gone };
struct changed {
    std::uint64_t sequence;
    std::optional<std::uint32_t> code;
    std::optional<std::string_view> reason;
    state now;
};

/// Byte for byte their payload: no padding, fixed fields alone, the widest first.
struct flags {
    bool first, second, third, fourth, fifth, sixth, seventh, eighth;
};
struct point {
    double x;
    float y;
    float z;
};
struct every_width {
    std::uint64_t eight;
    std::int64_t took;
    std::uint32_t four;
    float ratio;
    std::int32_t left;
    std::uint32_t right;
    std::uint16_t two;
    std::int16_t other;
    std::uint8_t one;
    bool is_so;
    char letter;
    state now;
};
struct pair_of_points {
    std::uint64_t number;
    struct {
        float x, y;
    } from, to;
};
struct short_arrays {
    std::uint32_t port;
    std::array<std::uint8_t, 4> address;
    std::array<std::uint8_t, 16> label;
};
struct eight_words {
    std::uint64_t a, b, c, d, e, f, g;
    double h;
};
/// Nothing is missing in it, but its payload is sorted otherwise.
struct unsorted {
    std::uint16_t from;
    std::uint16_t to;
    float ratio;
    std::uint32_t first;
    std::uint16_t second;
    std::uint16_t third;
};

struct received {
    std::uint32_t bytes;
    std::string_view from;
};

using site = eventlog::provider<"site", numbers, described, named, owning, wide, block, long_row,
                                sampled, sampled_view, changed, received, flags, point, every_width,
                                pair_of_points, short_arrays, eight_words, unsorted>;

template <class... Events>
inline constexpr bool are_their_payload = (eventlog::detail::is_memcpy_payload<Events> && ...);
static_assert(are_their_payload<numbers, block, flags, point, every_width, pair_of_points,
                                short_arrays, eight_words>);
static_assert(!are_their_payload<unsorted>);

inline std::uint64_t mix(std::uint64_t value) {
    value ^= value >> 33U;
    value *= 0xff51afd7ed558ccdU;
    value ^= value >> 29U;
    value *= 0xc4ceb9fe1a85ec53U;
    return value ^ value >> 32U;
}

inline std::uint64_t hash(std::string_view text) {
    std::uint64_t value = 0xcbf29ce484222325U;
    for (const char character : text) {
        value = (value ^ static_cast<unsigned char>(character)) * 0x100000001b3U;
    }
    return value;
}

}  // namespace sites

template <>
inline constexpr eventlog::event_traits eventlog::traits_of<sites::received>{.session_bound = true};

using namespace sites;

extern "C" {

void begin() noexcept;
int end() noexcept;
std::uint64_t compute(std::uint64_t value) noexcept;

// emit: values that are there, and what is computed from them -----------------------------------

// expect: gate
int emit_values(std::uint64_t sequence, std::uint32_t bytes, std::uint32_t window) {
    begin();
    site::emit(numbers{sequence, bytes, window});
    return end() + 1;
}

// expect: gate
int emit_constants() {
    begin();
    site::emit(described{1, "timeout", 1448});
    return end() + 1;
}

// expect: gate
int emit_small(std::uint64_t sequence, std::string_view reason, std::uint32_t bytes) {
    begin();
    site::emit(described{sequence, reason, bytes});
    return end() + 1;
}

// expect: gate
int emit_part_of_text(std::uint64_t sequence, const char* text, std::size_t size) {
    begin();
    site::emit(described{sequence, std::string_view(text, size).substr(size / 2), 0});
    return end() + 1;
}

// expect: gate
int emit_c_string(const char* name, std::uint64_t sequence) {
    begin();
    site::emit(named{name, sequence});
    return end() + 1;
}

// expect: gate
int emit_arithmetic(std::uint64_t sequence, std::uint32_t bytes) {
    begin();
    site::emit(numbers{mix(mix(sequence)), bytes * bytes + 7,
                       static_cast<std::uint32_t>(mix(sequence) % 1000)});
    return end() + 1;
}

// expect: gate
int emit_wide(std::uint64_t number, std::string_view text, double ratio) {
    begin();
    site::emit(wide{number, static_cast<std::int64_t>(number >> 3U), 1, -1, text, ratio * 3,
                    static_cast<float>(ratio), static_cast<std::uint16_t>(number), 5, number > 5,
                    'c', text.substr(text.size() / 2), mix(number)});
    return end() + 1;
}

// expect: gate
int emit_named_first(std::uint64_t sequence, std::string_view reason) {
    const described event{mix(sequence), reason, 3};
    begin();
    site::emit(event);
    return end() + 1;
}

// Not copied in front of the branch, however large it is.
// expect: gate
int emit_block(const block* event) {
    begin();
    site::emit(*event);
    return end() + 1;
}

// expect: gate
int emit_long_row(std::uint64_t number, std::string_view reason, std::string_view peer) {
    begin();
    site::emit(long_row{number, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, reason, peer});
    return end() + 1;
}

// expect: gate
int emit_long_row_in_memory(const long_row& event) {
    begin();
    site::emit(event);
    return end() + 1;
}

// expect: gate
int emit_long_row_at(const long_row* event) {
    begin();
    site::emit(*event);
    return end() + 1;
}

// expect: gate
int emit_sampled(const sampled& event) {
    begin();
    site::emit(event);
    return end() + 1;
}

// expect: gate
int emit_sampled_view(const sampled_view& event) {
    begin();
    site::emit(event);
    return end() + 1;
}

// expect: gate
int emit_owning_in_memory(const owning& event) {
    begin();
    site::emit(event);
    return end() + 1;
}

// expect: gate
int emit_changed(std::uint64_t sequence, std::uint32_t code, state now) {
    begin();
    site::emit(changed{sequence, code, std::nullopt, now});
    return end() + 1;
}

// expect: gate
int emit_changed_in_memory(const changed& event) {
    begin();
    site::emit(event);
    return end() + 1;
}

// expect: gate
int emit_in_session(const eventlog::session<site>& session, std::uint32_t bytes,
                    std::string_view from) {
    begin();
    session.emit(received{bytes, from});
    return end() + 1;
}

// expect: gate
int lazily_in_session(const eventlog::session<site>& session, std::string_view from) {
    begin();
    session.emit_lazily([&] {
        return received{static_cast<std::uint32_t>(compute(from.size())), from};
    });
    return end() + 1;
}

// emit_lazily: whatever it takes ----------------------------------------------------------------

// expect: gate
int lazily_values(std::uint64_t sequence, std::string_view reason, std::uint32_t bytes) {
    begin();
    site::emit_lazily([&] { return described{sequence, reason, bytes}; });
    return end() + 1;
}

// expect: gate
int lazily_arithmetic(std::uint64_t sequence, std::uint32_t bytes) {
    begin();
    site::emit_lazily([&] { return numbers{mix(mix(sequence)), bytes * bytes, bytes / 3}; });
    return end() + 1;
}

// expect: gate
int lazily_call(std::uint64_t sequence) {
    begin();
    site::emit_lazily([&] { return numbers{compute(sequence), 1, 2}; });
    return end() + 1;
}

// expect: gate
int lazily_loop(std::string_view text) {
    begin();
    site::emit_lazily([&] { return described{hash(text), text, 2}; });
    return end() + 1;
}

// expect: gate
int lazily_memory(const std::uint64_t* numbers_read, const std::string& text) {
    begin();
    site::emit_lazily([&] { return described{numbers_read[0], text, 2}; });
    return end() + 1;
}

// expect: gate
int lazily_allocation(std::uint64_t sequence, const std::string& text) {
    begin();
    site::emit_lazily([&] { return owning{sequence, text + ": gone"}; });
    return end() + 1;
}

// expect: gate
int lazily_wide(std::uint64_t number, std::string_view text, double ratio) {
    begin();
    site::emit_lazily([&] {
        return wide{number, -1, 1, -1, text, ratio * 3, 1, 2, 5, true, 'c', text, compute(number)};
    });
    return end() + 1;
}

// expect: gate
int lazily_block(const block& event, std::uint64_t sequence) {
    begin();
    site::emit_lazily([&] { return block{sequence, event.samples}; });
    return end() + 1;
}

// Longer than what compilers inline where it is unlikely to be needed.
// expect: gate
int lazily_long(std::uint64_t number, std::string_view text) {
    begin();
    site::emit_lazily([&] {
        const std::uint64_t mixed = mix(mix(mix(hash(text)))) ^ mix(mix(number));
        return wide{mixed,
                    static_cast<std::int64_t>(mix(mixed)),
                    1,
                    -1,
                    text.substr(text.size() / 3),
                    static_cast<double>(mixed),
                    1,
                    2,
                    5,
                    mixed > 5,
                    'c',
                    text,
                    mix(hash(text))};
    });
    return end() + 1;
}

// An event that is in memory: what is copied of it if somebody listens --------------------------

// expect copy: 16 bytes
void copy_numbers(const numbers& event) {
    site::emit(event);
}

// expect copy: 8 bytes
void copy_flags(const flags& event) {
    site::emit(event);
}

// expect copy: 16 bytes
void copy_point(const point& event) {
    site::emit(event);
}

// expect copy: 40 bytes
void copy_every_width(const every_width& event) {
    site::emit(event);
}

// expect copy: 24 bytes
void copy_nested(const pair_of_points& event) {
    site::emit(event);
}

// expect copy: 24 bytes
void copy_short_arrays(const short_arrays& event) {
    site::emit(event);
}

// expect copy: 64 bytes
void copy_what_takes_more_than_registers(const eight_words& event) {
    site::emit(event);
}

// It is handed over where it is: what is copied, once, into the ring, the library copies.
// expect copy: 0 bytes
void copy_block(const block& event) {
    site::emit(event);
}

// expect copy complaint: bytes of the event
void copy_unsorted(const unsorted& event) {
    site::emit(event);
}

// What must be written with emit_lazily instead -------------------------------------------------

// expect complaint: call compute
int emit_call(std::uint64_t sequence) {
    begin();
    site::emit(numbers{compute(sequence), 1, 2});
    return end() + 1;
}

// expect complaint: call compute
int emit_call_before_begin(std::uint64_t sequence) {
    const std::uint64_t computed = compute(sequence);
    begin();
    site::emit(numbers{computed, 1, 2});
    return end() + 1;
}

// expect complaint: beside the gate: mov
int emit_volatile_read(const volatile std::uint64_t* sequence) {
    begin();
    site::emit(numbers{*sequence, 1, 2});
    return end() + 1;
}

// expect complaint: beside the gate: mov
int emit_twice(std::uint64_t sequence) {
    begin();
    site::emit(numbers{sequence, 1, 2});
    site::emit(numbers{sequence, 1, 3});
    return end() + 1;
}

// expect complaint: beside the gate: cmp
int emit_conditionally(std::uint64_t sequence) {
    begin();
    if (sequence > 5) {
        site::emit(numbers{sequence, 1, 2});
    }
    return end() + 1;
}

// expect complaint: no gate
int emit_nothing() {
    begin();
    return end() + 1;
}
}
