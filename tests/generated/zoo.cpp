// SPDX-License-Identifier: MIT
//
// The same as zoo.c, through the header of elog schema gen --lang c++.
#include "zoo.hpp"

#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace {

using std::numeric_limits;
using zoo::provider;

std::span<const std::byte> bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text.data(), text.size()));
}

void emit_long_texts() {
    std::string text;
    for (int i = 0; i < 35000; ++i) {
        text += "\xc3\xa9";
    }
    const std::vector<std::byte> data(30001);
    provider::emit(zoo::long_texts{"short", std::span(data).first(2), 7, "text"});
    provider::emit(zoo::long_texts{text, data, 7, "short"});
}

void emit_sequences() {
    const std::vector<std::uint32_t> delays{150, numeric_limits<std::uint32_t>::max()};
    const bool fed[] = {true, false, true};
    const double weights[] = {0.5, -0.25};
    const zoo::size sizes[] = {zoo::size::large, zoo::size::huge};
    const std::array money{zoo::balance::debt};
    const zoo::diet eats[] = {zoo::diet::grass | zoo::diet::fish, zoo::diet::meat};
    const std::vector<std::int64_t> took{1500, 2500000};
    const std::int8_t levels[] = {-128, 0};
    provider::emit(zoo::sequences{delays, fed, weights, sizes, std::span(money), eats, took, "den",
                                  std::span<const std::int8_t>(levels)});
    provider::emit(
        zoo::sequences{{}, {}, {}, {}, std::span(money).first(0), {}, {}, "", std::nullopt});
}

void emit_long_sequences() {
    std::vector<std::uint64_t> numbers(10000);
    std::iota(numbers.begin(), numbers.end(), 0);
    std::vector<std::uint16_t> delays(15000);
    std::iota(delays.begin(), delays.end(), std::uint16_t{0});
    provider::emit(zoo::long_sequences{
        "short", std::span(numbers).first(3), {-1, 2}, std::span(delays).first(2)});
    provider::emit(zoo::long_sequences{"short", numbers, {-1, 2}, delays});
}

/// A scope measures the time itself; here the durations are those of the other programs.
void emit_wrapped() {
    provider::emit(eventlog::timed<zoo::visit>{1500, {7, "dawn"}});
    provider::emit(eventlog::timed<zoo::pause>{2500000});
    auto unused = provider::time(zoo::pause{});
    unused.cancel();
    provider::gauge<zoo::visitors> present(2);
    present.add(1);
}

}  // namespace

int main() {
    const std::uint32_t network = [] {
        constexpr std::array<std::uint8_t, 4> bytes{127, 0, 0, 1};
        std::uint32_t number = 0;
        std::memcpy(&number, bytes.data(), sizeof number);
        return number;
    }();
    using std::chrono::nanoseconds;
    provider::emit(zoo::numbers{
        true, 'x', numeric_limits<std::int8_t>::min(), numeric_limits<std::int16_t>::min(),
        numeric_limits<std::int32_t>::min(), numeric_limits<std::int64_t>::min(), 255, 65535,
        numeric_limits<std::uint32_t>::max(), numeric_limits<std::uint64_t>::max(), 0.5F, -0.25});
    provider::emit(zoo::named{zoo::size::large,
                              zoo::balance::debt,
                              zoo::diet::grass | zoo::diet::fish,
                              {zoo::size::large, zoo::size::huge}});
    provider::emit(zoo::formats{
        0xdeadbeef,
        -2,
        nanoseconds(1500000),
        std::chrono::sys_time<nanoseconds>(nanoseconds(1700000000123456789)),
        std::chrono::time_point<std::chrono::steady_clock, nanoseconds>(nanoseconds(12345678901)),
        2048,
        {{192, 0, 2, 1}},
        {{0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}},
        {{0, 1, 2, 0xfd, 0xfe, 0xff}},
        {'l', 'a', 'b', 'e', 'l'},
        network,
        50});
    provider::emit(zoo::texts{"name", bytes_of("\x01\xff"), "\xc3\xa9", {1, 2, 65535}});
    provider::emit(zoo::options{0, "", bytes_of(""), true, zoo::size::huge,
                                eventlog::ipv4_address{{10, 0, 0, 1}},
                                std::array<std::int16_t, 2>{-1, 2}});
    provider::emit(zoo::options{});
    emit_long_texts();
    emit_sequences();
    emit_long_sequences();
    emit_wrapped();
    provider::emit(zoo::nothing{});
    provider::emit(zoo::delete_{1, 2, 3, 4, 5, "text"});
    provider::emit(zoo::nothing{});
    return provider::enabled<zoo::nothing>() && provider::enabled<zoo::delete_>() ? 0 : 1;
}
