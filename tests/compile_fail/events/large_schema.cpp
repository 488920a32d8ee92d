// SPDX-License-Identifier: MIT
//
// expect: the schema of this provider is over 1 MiB
#include <cstddef>
#include <cstdint>
#include <utility>

#include <eventlog/eventlog.hpp>

/// 255 letters, the longest text.
constexpr const char* text = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                             "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                             "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                             "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";

template <std::size_t Number>
struct numbered {
    std::uint8_t a;
    std::uint8_t b;
    std::uint8_t c;
    std::uint8_t d;
    std::uint8_t e;
    std::uint8_t f;
    std::uint8_t g;
    std::uint8_t h;
};
/// Names with suffixes: 60 of each.
constexpr const char* names[] = {
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
    "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc",
    "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd",
};

// Over 4500 bytes each.
template <std::size_t Number>
inline constexpr eventlog::event_info eventlog::event_info_of<numbered<Number>>{
    .name = names[Number / 60] + Number % 60,
    .description = text,
    .when = text,
    .fields = {{.member = "a", .unit = text, .description = text},
               {.member = "b", .unit = text, .description = text},
               {.member = "c", .unit = text, .description = text},
               {.member = "d", .unit = text, .description = text},
               {.member = "e", .unit = text, .description = text},
               {.member = "f", .unit = text, .description = text},
               {.member = "g", .unit = text, .description = text},
               {.member = "h", .unit = text, .description = text}}};

template <std::size_t... Numbers>
void emit_them(std::index_sequence<Numbers...> /*numbers*/) {
    eventlog::provider<"bad", numbered<Numbers>...>::schema();
}

void emit_it() {
    emit_them(std::make_index_sequence<240>{});
}
