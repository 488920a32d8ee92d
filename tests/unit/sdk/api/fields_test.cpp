// SPDX-License-Identifier: MIT
//
// Every type of field, from the emitting line to the reader's value.
#include <arpa/inet.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <ratio>
#include <span>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

#include "listener.hpp"
#include "shown_fields.hpp"

namespace {

using eventlog::test::event_listener;
using eventlog::test::received_record;
using eventlog::test::shown_fields;
using namespace std::chrono_literals;

enum class color : std::uint8_t { red, green = 5, blue };
enum class depth : std::int32_t { below = -1, surface, far = 1 << 20 };
enum plain_enum { first, second };
enum class feature : std::uint64_t { none, fast = 1, last = 1ULL << 63U };
enum class permission : std::uint32_t { none = 0, read = 1, write = 2, execute = 4 };

}  // namespace

template <>
inline constexpr eventlog::enum_info eventlog::enum_info_of<permission>{
    .is_bitmask = true, .values = {{1, "read"}, {2, "write"}, {4, "execute"}}};

namespace {

struct with_enums {
    color paint;
    depth level;
    plain_enum unnamed;
    permission rights;
};
struct with_wide_enums {
    feature first;
    feature second;
};
struct with_arrays {
    std::array<std::uint16_t, 3> numbers;
    std::array<char, 8> name;
    std::array<color, 2> paints;
    std::array<std::chrono::milliseconds, 2> delays;
};
struct with_long_arrays {
    std::uint8_t before;
    std::array<std::uint32_t, 5> numbers;
    std::optional<std::array<std::uint64_t, 3>> more;
    std::string_view text;
    std::uint16_t behind;
};
struct with_times {
    std::chrono::milliseconds delay;
    std::chrono::duration<double> exact;
    std::chrono::hours age;
    std::chrono::system_clock::time_point when;
    std::chrono::steady_clock::time_point since;
};
struct with_options {
    std::optional<std::int32_t> number;
    std::optional<std::string> text;
    std::optional<std::string_view> view;
    std::optional<eventlog::ipv4_address> address;
    std::optional<color> paint;
};
struct with_addresses {
    eventlog::ipv4_address four;
    eventlog::ipv6_address six;
    eventlog::mac_address mac;
};
struct with_bytes {
    std::span<const std::byte> data;
    std::uint8_t behind;
    std::span<const std::uint8_t> more;
    std::string_view text;
};
struct with_pointers {
    const void* object;
    int* number;
    std::nullptr_t nothing;
    std::byte single;
};
struct endpoint {
    eventlog::ipv4_address ip;
    std::uint16_t port;
};
struct connection {
    endpoint from;
    endpoint to;
};
struct traced_path {
    std::uint8_t hops;
    connection outer;
    std::string_view via;
};
struct crate {
    std::uint8_t number;
    std::string_view what;
};
struct shelf {
    crate left;
    std::uint64_t weight;
};
struct room {
    std::uint16_t floor;
    shelf first;
};
struct stored {
    room at;
    crate instead;
};
struct with_formats {
    std::byte raw;
    std::uint16_t mask;
    std::int32_t error;
    std::uint64_t size;
    std::uint32_t host;
    std::int64_t waited;
    std::chrono::milliseconds counted;
    std::array<std::uint8_t, 6> card;
    std::uint32_t packets;
};
struct tick {};
struct same_as_payload {
    std::uint64_t a;
    std::uint32_t b;
    std::uint16_t c;
    std::uint8_t d;
    std::uint8_t e;
};
using fields_test =
    eventlog::provider<"fields_test", with_enums, with_wide_enums, with_arrays, with_long_arrays,
                       with_times, with_options, with_addresses, with_bytes, with_pointers,
                       traced_path, stored, with_formats, tick, same_as_payload>;

}  // namespace

template <>
inline constexpr eventlog::event_info eventlog::event_info_of<with_formats>{
    .fields = {{.member = "raw", .format = eventlog::format::decimal},
               {.member = "mask", .format = eventlog::format::hexadecimal},
               {.member = "error", .format = eventlog::format::error_number},
               {.member = "size", .format = eventlog::format::byte_size},
               {.member = "host", .format = eventlog::format::ip_address},
               {.member = "waited", .format = eventlog::format::duration},
               {.member = "counted", .format = eventlog::format::decimal},
               {.member = "card", .format = eventlog::format::mac_address},
               {.member = "packets", .unit = "pkts"}}};

namespace {

/// Emits one event and returns its decoded fields, each as name=value.
template <class Event>
std::string shown(const Event& event) {
    event_listener listener("fields_test:*");
    fields_test::emit(event);
    return shown_fields(listener);
}

TEST(fields, of_enumerations_are_shown_by_name_if_known_to_compiler) {
    EXPECT_EQ(shown(with_enums{color::green, depth::below, second, permission::read}),
              "paint=green level=below unnamed=1 rights=read");
    EXPECT_EQ(shown(with_enums{color::blue, depth::far, first, permission::none}),
              "paint=blue level=far unnamed=0 rights=0x0");
}

TEST(fields, of_enumerations_of_64_unsigned_bits_are_shown_by_name) {
    EXPECT_EQ(shown(with_wide_enums{feature::fast, feature::last}), "first=fast second=last");
}

TEST(fields, of_enumerations_without_a_name_are_shown_as_numbers) {
    EXPECT_EQ(shown(with_enums{static_cast<color>(77), static_cast<depth>(-7), second,
                               permission::write}),
              "paint=77 level=-7 unnamed=1 rights=write");
}

TEST(fields, of_flag_enumerations_are_shown_as_a_set) {
    EXPECT_EQ(shown(with_enums{color::red, depth::surface, first, static_cast<permission>(5)}),
              "paint=red level=surface unnamed=0 rights=read|execute");
    EXPECT_EQ(shown(with_enums{color::red, depth::surface, first, static_cast<permission>(0x42)}),
              "paint=red level=surface unnamed=0 rights=write|0x40");
}

TEST(fields, of_arrays_carry_every_element) {
    EXPECT_EQ(shown(with_arrays{
                  {1, 2, 65535}, {'e', 't', 'h', '0'}, {color::red, color::blue}, {5ms, 2s}}),
              "numbers=[1,2,65535] name=\"eth0\" paints=[red,blue] delays=[5ms,2s]");
}

TEST(fields, of_long_arrays_keep_declared_order) {
    EXPECT_EQ(shown(with_long_arrays{1, {1, 2, 3, 4, 5}, {{7, 8, 9}}, "end", 65535}),
              "before=1 numbers=[1,2,3,4,5] more=[7,8,9] text=\"end\" behind=65535");
    EXPECT_EQ(shown(with_long_arrays{2, {5, 4, 3, 2, 1}, {}, "", 3}),
              "before=2 numbers=[5,4,3,2,1] more=- text=\"\" behind=3");
}

TEST(fields, of_durations_and_times_use_fitting_unit) {
    using std::chrono::steady_clock;
    using std::chrono::system_clock;
    EXPECT_EQ(
        shown(with_times{1500ms, std::chrono::duration<double>(0.25), 2h,
                         system_clock::time_point{} + 86400s, steady_clock::time_point{} + 3s}),
        "delay=1.5s exact=250ms age=7200s when=1970-01-02T00:00:00.000000000Z "
        "since=3.000000000s");
}

TEST(fields, of_times_too_long_for_nanoseconds_saturate) {
    using eventlog::detail::nanoseconds_in;
    using std::chrono::duration;
    using std::chrono::milliseconds;
    constexpr auto last = std::numeric_limits<std::int64_t>::max();
    constexpr auto first = std::numeric_limits<std::int64_t>::min();
    EXPECT_EQ(nanoseconds_in(milliseconds(9'223'372'036'854)), 9'223'372'036'854'000'000);
    EXPECT_EQ(nanoseconds_in(milliseconds(9'223'372'036'855)), last);
    EXPECT_EQ(nanoseconds_in(milliseconds::max()), last);
    EXPECT_EQ(nanoseconds_in(milliseconds::min()), first);
    EXPECT_EQ(nanoseconds_in(std::chrono::nanoseconds::min()), first);
    EXPECT_EQ(nanoseconds_in(duration<std::uint64_t>(~std::uint64_t{0})), last);
    EXPECT_EQ(nanoseconds_in(duration<std::uint64_t, std::nano>(~std::uint64_t{0})), last);
    EXPECT_EQ(nanoseconds_in(duration<std::uint64_t, std::pico>(~std::uint64_t{0})),
              18'446'744'073'709'551);
}

TEST(fields, of_times_in_fractional_periods_are_exact_up_to_the_limit) {
    using eventlog::detail::nanoseconds_in;
    using thirds = std::chrono::duration<std::int64_t, std::ratio<1, 3>>;
    EXPECT_EQ(nanoseconds_in(thirds(20'000'000'000)), 6'666'666'666'666'666'666);
    EXPECT_EQ(nanoseconds_in(thirds(30'000'000'000)), std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(nanoseconds_in(thirds(-30'000'000'000)), std::numeric_limits<std::int64_t>::min());
}

TEST(fields, of_times_in_fractional_periods_saturate) {
    using eventlog::detail::nanoseconds_in;
    using std::chrono::duration;
    constexpr auto last = std::numeric_limits<std::int64_t>::max();
    constexpr auto first = std::numeric_limits<std::int64_t>::min();
    using exaseconds = duration<std::int64_t, std::exa>;
    EXPECT_EQ(nanoseconds_in(exaseconds(0)), 0);
    EXPECT_EQ(nanoseconds_in(exaseconds(1)), last);
    EXPECT_EQ(nanoseconds_in(exaseconds::min()), first);
    EXPECT_EQ(nanoseconds_in(duration<std::uint64_t, std::exa>(~std::uint64_t{0})), last);
    EXPECT_EQ(nanoseconds_in(duration<double, std::exa>(2)), last);
    // 9.2 s: ratio and count both have 63 bits.
    using part = std::ratio<9'223'372'036'854'775'807, 1'000'000'000'000'000'003>;
    EXPECT_EQ(nanoseconds_in(duration<std::int64_t, part>(1)), 9'223'372'036);
    EXPECT_EQ(nanoseconds_in(duration<std::int64_t, part>(-1'000'000'000)),
              -9'223'372'036'854'775'779);
    EXPECT_EQ(nanoseconds_in(duration<std::int64_t, part>(1'000'000'001)), last);
}

TEST(fields, of_floating_point_times_saturate_and_nan_is_zero) {
    using eventlog::detail::nanoseconds_in;
    using seconds = std::chrono::duration<double>;
    using limits = std::numeric_limits<double>;
    constexpr auto last = std::numeric_limits<std::int64_t>::max();
    constexpr auto first = std::numeric_limits<std::int64_t>::min();
    EXPECT_EQ(nanoseconds_in(seconds(-0.25)), -250'000'000);
    EXPECT_EQ(nanoseconds_in(seconds(1.5e300)), last);
    EXPECT_EQ(nanoseconds_in(seconds(-1.5e300)), first);
    EXPECT_EQ(nanoseconds_in(seconds(limits::infinity())), last);
    EXPECT_EQ(nanoseconds_in(seconds(-limits::infinity())), first);
    EXPECT_EQ(nanoseconds_in(seconds(limits::quiet_NaN())), 0);
}

TEST(fields, optional_fields_distinguish_absent_from_any_value) {
    EXPECT_EQ(shown(with_options{}), "number=- text=- view=- address=- paint=-");
    EXPECT_EQ(shown(with_options{0, "", "", eventlog::ipv4_address{}, color::red}),
              "number=0 text=\"\" view=\"\" address=0.0.0.0 paint=red");
    EXPECT_EQ(shown(with_options{{}, "only", {}, {}, {}}),
              "number=- text=\"only\" view=- address=- paint=-");
}

TEST(fields, of_network_addresses_are_shown_as_such) {
    in6_addr six{};
    ASSERT_EQ(::inet_pton(AF_INET6, "2001:db8::7", &six), 1);
    EXPECT_EQ(shown(with_addresses{eventlog::ipv4_address::from_network(htonl(0x0a000102)),
                                   eventlog::ipv6_address::from_network(six),
                                   {{0x02, 0, 0xab, 0, 0, 1}}}),
              "four=10.0.1.2 six=2001:db8::7 mac=02:00:ab:00:00:01");
}

TEST(fields, of_bytes_carry_any_byte_and_none) {
    const std::array<std::byte, 3> data{std::byte{0}, std::byte{0xff}, std::byte{0x10}};
    EXPECT_EQ(shown(with_bytes{data, 7, {}, "end"}), "data=<00ff10> behind=7 more=<> text=\"end\"");
}

TEST(fields, of_bytes_are_carried_at_every_length) {
    std::vector<std::uint8_t> bytes;
    for (std::size_t length = 0; length < 700; length += 3) {
        bytes.resize(length, static_cast<std::uint8_t>(length));
        event_listener listener("fields_test:*");
        fields_test::emit(with_bytes{{}, 1, bytes, "text"});
        listener.poll();
        const received_record& record = listener.records().at(0);
        const auto received = std::get<elog::byte_string>(listener.field(record, "more"));
        EXPECT_TRUE(std::equal(received.begin(), received.end(), bytes.begin(), bytes.end()))
            << length;
        EXPECT_EQ(std::get<std::string_view>(listener.field(record, "text")), "text");
    }
}

TEST(fields, of_pointers_are_shown_as_addresses) {
    EXPECT_EQ(
        shown(with_pointers{reinterpret_cast<void*>(0x1234), nullptr, nullptr, std::byte{0x7f}}),
        "object=0x1234 number=0x0 nothing=0x0 single=0x7f");
}

TEST(fields, of_nested_structs_keep_their_order_at_any_depth) {
    const endpoint from{{{1, 2, 3, 4}}, 80};
    const endpoint to{{{5, 6, 7, 8}}, 443};
    EXPECT_EQ(shown(traced_path{3, {from, to}, "wan"}),
              "hops=3 outer_from_ip=1.2.3.4 outer_from_port=80 outer_to_ip=5.6.7.8 "
              "outer_to_port=443 via=\"wan\"");
}

TEST(fields, of_structs_four_levels_deep_carry_their_values) {
    EXPECT_EQ(shown(stored{{3, {{7, "tea"}, 1000}}, {8, "salt"}}),
              "at_floor=3 at_first_left_number=7 at_first_left_what=\"tea\" at_first_weight=1000 "
              "instead_number=8 instead_what=\"salt\"");
}

TEST(fields, with_explicit_format_or_unit_use_it) {
    EXPECT_EQ(shown(with_formats{std::byte{0x7f},
                                 0xff,
                                 -2,
                                 2048,
                                 htonl(0xc0000201),
                                 1'500'000,
                                 2ms,
                                 {0, 0, 0x5e, 0, 0x53, 1},
                                 7}),
              "raw=127 mask=0xff error=-2(ENOENT) size=2KiB host=192.0.2.1 waited=1.5ms "
              "counted=2000000 card=00:00:5e:00:53:01 packets=7pkts");
}

TEST(fields, may_be_empty) {
    EXPECT_EQ(shown(tick{}), "");
}

TEST(fields, of_payload_ordered_struct_equal_its_bytes) {
    event_listener listener("fields_test:*");
    const same_as_payload event{0x1111111111111111, 0x22222222, 0x3333, 0x44, 0x55};
    fields_test::emit(event);
    listener.poll();
    const received_record& record = listener.records().at(0);
    ASSERT_EQ(record.payload.size(), sizeof event);
    EXPECT_EQ(std::memcmp(record.payload.data(), &event, sizeof event), 0);
}

}  // namespace
