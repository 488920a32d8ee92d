// SPDX-License-Identifier: MIT
//
// Emits events with USDT probes the given number of times, and prints how many of them were
// constructed.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <eventlog/eventlog.hpp>

namespace {

enum class kind : std::uint8_t { bread = 2 };

struct order_placed {
    std::int32_t number;
    std::string_view what;
    kind of;
    double price;
};
struct address {
    std::uint16_t port;
    eventlog::ipv4_address host;
};
struct connected {
    address peer;
    const char* name;
    std::string user;
    std::optional<std::int64_t> sum;
    std::optional<std::string_view> nothing;
    std::span<const std::byte> data;
    bool late;
};
struct idle {};
struct crowded {
    std::uint64_t a, b, c, d, e, f, g, h, i, j, k;
    std::span<const std::byte> two_words;
    std::uint64_t left_out;
};
struct request {
    std::uint32_t size;
};

struct cooking {
    std::uint32_t pots;
};
struct stock {
    std::int32_t loaves;
};
/// A type with an adapter that returns an array by value.
struct key {
    std::uint32_t number;
};
struct unlocked {
    key with;
    std::uint32_t doors;
};

// Without a terminating NUL.
constexpr std::array<char, 4> loaf{'l', 'o', 'a', 'f'};
constexpr std::array<std::byte, 2> data{std::byte{7}, std::byte{8}};

using probed = eventlog::provider<"probed", order_placed, connected, idle, crowded, request,
                                  unlocked, eventlog::timed<cooking>, eventlog::gauge<stock>>;

}  // namespace

template <>
struct eventlog::convert<key> {
    static std::array<std::uint8_t, 8> to_field(const key& from) noexcept {
        return {1, 2, 3, static_cast<std::uint8_t>(from.number)};
    }
};

template <>
inline constexpr eventlog::provider_info eventlog::provider_info_of<probed>{.usdt = true};
template <>
inline constexpr eventlog::event_info eventlog::event_info_of<request>{.session_bound = true};

int main(int argc, char** argv) {
    const unsigned long rounds = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1;
    unsigned long made = 0;
    eventlog::session<probed> client(81);
    probed::gauge<stock> loaves;
    for (unsigned long round = 0; round < rounds; ++round) {
        const auto number = -7 - static_cast<std::int32_t>(round);
        probed::emit(order_placed{number, {loaf.data(), loaf.size()}, kind::bread, 1.5});
        probed::emit([&] {
            ++made;
            return connected{{80, {{10, 0, 0, 1}}}, "peter", "paul", -5, std::nullopt, data, true};
        });
        probed::emit(idle{});
        probed::emit(crowded{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, data, 13});
        client.emit(request{4096});
        probed::emit(unlocked{{4}, 5});
        { const auto scope = probed::time(cooking{6}); }
        loaves.add(-7);
    }
    std::printf("%lu made\n", made);
    return 0;
}
