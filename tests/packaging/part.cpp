// SPDX-License-Identifier: MIT
//
// A program and its shared object, which both emit from a provider in a common header, for many
// ways of compiling. With PART defined this file is the shared object, without it the program.
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <string_view>

#include <eventlog/eventlog.hpp>

enum class paint : std::uint8_t { red, green };
struct place {
    std::int16_t x;
    std::int16_t y;
};
struct measured {
    std::uint64_t number;
    double value;
    std::string_view by;
};
struct described {
    bool is_even;
    paint colour;
    place at;
    std::array<std::uint16_t, 3> counts;
    std::optional<std::uint32_t> limit;
    std::string_view name;
    std::span<const std::byte> bytes;
    std::chrono::microseconds took;
};

using lab = eventlog::provider<"lab", measured, described>;

extern "C" [[gnu::visibility("default")]] void measure_in_part(std::uint64_t count);

#ifdef PART

void measure_in_part(std::uint64_t count) {
    for (std::uint64_t number = 0; number < count; ++number) {
        lab::emit([&] { return measured{number, 0.5, "part"}; });
    }
}

#else

static void describe(std::uint64_t number) {
    static constexpr std::byte bytes[] = {std::byte{1}, std::byte{2}, std::byte{254}};
    const auto small = static_cast<std::uint16_t>(number);
    const bool is_even = number % 2 == 0;
    lab::emit(described{
        is_even,
        is_even ? paint::red : paint::green,
        {static_cast<std::int16_t>(-small), 7},
        {small, 0, 65535},
        is_even ? std::optional(small) : std::nullopt,
        std::string_view("abcdefghij").substr(0, number % 11),
        std::span(bytes).first(number % 4),
        std::chrono::milliseconds(number),
    });
}

int main(int argument_count, char** arguments) {
    const std::uint64_t count = argument_count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 0;
    for (std::uint64_t number = 0; number < count; ++number) {
        lab::emit(measured{number, 0.25, "program"});
    }
    for (std::uint64_t number = 0; number < count; ++number) {
        describe(number);
    }
    measure_in_part(count);
}

#endif
