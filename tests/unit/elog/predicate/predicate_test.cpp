// SPDX-License-Identifier: MIT
//
// What predicates mean for records, and what is said about those that mean nothing.
#include "predicate/predicate.hpp"

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "predicate/record_filter.hpp"
#include "record_builder.hpp"
#include "text/time_literal.hpp"

namespace {

using eventlog::test::test_record;
using eventlog::test::record_builder;

constexpr std::string_view network_schema = R"(
provider net {
    enum state : u8 { closed = 0, connecting = 1, connected = 2 }
    flags bits : u32 { fin = 1, syn = 2, ack = 0x10 }
    event packet warn {
        bytes: u32 format byte_size
        left: i64
        took: i64 format duration
        waited: u32 unit "ms"
        share: f64
        small: f32
        state: state
        flags: bits
        good: bool
        tag: char
        why: text
        peer: ip4
        far: ip6
        hardware: mac
        label: char[8] format characters
        values: i16[3]
        raw: bytes
        error: i32 format error_number
        at: i64 format realtime
        peer_port: u16
        limit: u32
        maybe: u32?
        maybe_why: text?
        level: u16
    }
    event other info { name: text  bytes: u64  size: f64 }
    event nothing error {}
}
)";

class predicates : public ::testing::Test {
  protected:
    record_builder net{network_schema, "nginx: worker", 4242};

    /// Whether a record matches; fails the test if the predicate is refused.
    [[nodiscard]] bool matches(std::string_view text, const test_record& record) const {
        elog::record_filter filter(elog::predicate("--where", text), 1'600'000'000'000'000'000);
        filter.add(net.provider());
        filter.check_names();
        return filter.matches(record.view(), record_builder::clock());
    }

    [[nodiscard]] std::string rejection(std::string_view text) const {
        try {
            elog::record_filter filter(elog::predicate("--where", text), 0);
            filter.add(net.provider());
            filter.check_names();
        } catch (const elog::user_error& error) {
            return error.what();
        }
        return {};
    }

    [[nodiscard]] test_record packet() const {
        test_record made = net.record("packet");
        made.set("bytes", std::uint64_t{1500});
        made.set("left", std::int64_t{-7});
        made.set("took", std::int64_t{2'500'000});
        made.set("waited", std::uint64_t{100});
        made.set("share", 0.1);
        made.set("small", 0.1F);
        made.set("state", std::uint64_t{2});
        made.set("flags", std::uint64_t{0x12});
        made.set("good", std::uint64_t{1});
        made.set("tag", std::uint64_t{'x'});
        made.set_text("why", "timeout");
        made.set_bytes("peer", {10, 1, 2, 3});
        made.set_bytes("far", {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
        made.set_bytes("hardware", {0, 0x16, 0x3e, 0xaa, 0xbb, 0xcc});
        made.set_bytes("label", {'e', 't', 'h', '0', 0, 'x', 0, 0});
        made.set_bytes("values", {1, 0, 0xfe, 0xff, 3, 0});
        made.set("error", std::int64_t{-2});
        made.set("at", std::int64_t{1'600'000'000'000'000'000});
        made.set("peer_port", std::uint64_t{443});
        made.set("limit", std::uint64_t{1500});
        made.set("level", std::uint64_t{9});
        return made;
    }

    void expect_match(std::string_view text) const { EXPECT_TRUE(matches(text, packet())) << text; }
    void expect_no_match(std::string_view text) const {
        EXPECT_FALSE(matches(text, packet())) << text;
    }
    void expect_rejection(std::string_view text, std::size_t column, std::string_view part) const {
        const std::string said = rejection(text);
        EXPECT_TRUE(said.starts_with("--where, column " + std::to_string(column) + ": "))
            << text << "\n"
            << said;
        EXPECT_NE(said.find(part), std::string::npos) << text << "\n" << said;
        EXPECT_TRUE(said.ends_with('.') || said.ends_with('?') || said.ends_with("elog list"))
            << said;
    }
};

TEST_F(predicates, compare_integers) {
    for (const char* text :
         {"bytes == 1500", "bytes != 1499", "bytes < 1501", "bytes <= 1500", "bytes > 1499",
          "bytes >= 1500", "1499 < bytes", "1500 == bytes", "left == -7", "left < 0", "left > -8",
          "-8 < left", "bytes == 0x5dc", "bytes > -1", "bytes < 18446744073709551615"}) {
        expect_match(text);
    }
    for (const char* text : {"bytes == 1501", "bytes != 1500", "bytes < 1500", "bytes <= 1499",
                             "bytes > 1500", "bytes >= 1501", "left == 7", "left > 0",
                             "left > 18446744073709551615", "bytes < -1", "bytes == -1"}) {
        expect_no_match(text);
    }
}

TEST_F(predicates, compare_integers_with_fractions_exactly) {
    expect_match("bytes > 1499.5");
    expect_match("bytes < 1500.5");
    expect_match("bytes != 1500.5");
    expect_match("left < -6.5");
    expect_match("left > -7.5");
    expect_no_match("bytes == 1500.5");
    expect_no_match("left >= -6.5");
    expect_no_match("left <= -7.5");
}

TEST_F(predicates, accept_units_of_time_and_size) {
    for (const char* text :
         {"took == 2.5ms", "took == 2500us", "took > 1ms", "took < 0.1s", "took == 2500000ns",
          "took == 2500000", "took < 1min", "took < 1h", "waited == 100ms", "waited == 0.1s",
          "waited < 1min", "waited == 100", "bytes > 1KiB", "bytes == 1.5kB", "bytes < 1MiB",
          "bytes == 1.5k", "left < 1M"}) {
        expect_match(text);
    }
}

TEST_F(predicates, reject_mismatched_units) {
    expect_rejection("bytes > 5ms", 9, "is no time: remove the unit 'ms'");
    expect_rejection("took > 5KiB", 8, "is no size");
    expect_rejection("waited > 5KiB", 10, "is no size");
    expect_rejection("share > 1s", 9, "is no time");
    expect_rejection("bytes > 5m", 10, "'m' is no unit");
    expect_rejection("bytes > 64K", 11, "'K' is no unit");
}

TEST_F(predicates, compare_floats_in_field_precision) {
    for (const char* text : {"share == 0.1", "small == 0.1", "share > 0", "share < 1e-0",
                             "share > -1.5", "share != 0.2", "share < bytes"}) {
        expect_match(text);
    }
    test_record record = packet();
    record.set("share", std::numeric_limits<double>::quiet_NaN());
    for (const char* text : {"share == 0", "share < 0", "share >= 0"}) {
        EXPECT_FALSE(matches(text, record)) << text;
    }
    EXPECT_TRUE(matches("share != 0", record));
    EXPECT_TRUE(matches("!(share < 0)", record));
}

TEST_F(predicates, compare_texts_and_match_patterns) {
    for (const char* text :
         {R"(why == "timeout")", R"(why != "reset")", R"(why ~ "time*")", R"(why ~ "*")",
          R"(why !~ "x*")", R"(why ~ "t?meout")", R"(why > "time")", R"("timeout" == why)",
          R"(label == "eth0")", R"(label ~ "eth?")", R"(why == "\x74imeout")"}) {
        expect_match(text);
    }
    for (const char* text : {R"(why == "time")", R"(why ~ "time")", R"(why !~ "*out")",
                             R"(label == "eth0x")", R"(why == "")"}) {
        expect_no_match(text);
    }
}

TEST_F(predicates, resolve_enumerator_names) {
    for (const char* text :
         {"state == connected", "state != closed", "state > connecting", "connected == state",
          R"(state == "connected")", "state == 2", "error == -ENOENT", "error != ENOENT",
          "error == -2", "tag == 'x'", R"(tag == "x")", "good == true", "good != false", "good",
          "true == good"}) {
        expect_match(text);
    }
    expect_no_match("!good");
    expect_no_match("good == false");
    expect_rejection("state == conected", 10, "Did you mean 'connected'?");
}

TEST_F(predicates, test_flag_bits) {
    for (const char* text :
         {"flags & syn", "flags & (syn | fin)", "(flags & (syn | ack)) == (syn | ack)",
          "(flags & fin) == 0", "!(flags & fin)", "flags == (syn | ack)", "flags & 0x10",
          "(flags & syn) != 0", "(flags & syn) == syn", "flags & syn && bytes > 5"}) {
        expect_match(text);
    }
    expect_no_match("flags & fin");
    expect_no_match("(flags & (syn | fin)) == (syn | fin)");
    expect_rejection("flags & syn == syn", 7, "& binds less tightly");
    expect_rejection("flags & sny", 9, "Did you mean 'syn'?");
    expect_rejection("why & 1", 1, "is a text");
}

TEST_F(predicates, compare_addresses_and_match_networks) {
    for (const char* text :
         {"peer == 10.1.2.3", "peer != 10.1.2.4", "peer ~ 10.1.0.0/16", "peer ~ 0.0.0.0/0",
          "peer ~ 10.1.2.2/31", "peer !~ 10.1.2.0/31", R"(peer == "10.1.2.3")", "far == fe80::1",
          "far ~ fe80::/10", "far != 10.1.2.3", "hardware == 00:16:3e:aa:bb:cc",
          "hardware == 00:16:3E:AA:BB:CC", "peer != fe80::1", "10.1.2.3 == peer"}) {
        expect_match(text);
    }
    expect_no_match("peer ~ 10.2.0.0/16");
    expect_no_match("far == 10.1.2.3");
    test_record mapped = packet();
    mapped.set_bytes("far", {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 1, 2, 3});
    EXPECT_TRUE(matches("far == 10.1.2.3", mapped));
    EXPECT_TRUE(matches("far ~ 10.0.0.0/8", mapped));
    expect_rejection("peer == 10.1.2", 9, "is no address");
    expect_rejection("peer == 10.1.2.0/24", 9, "with ~ and !~ when a network");
    expect_rejection("peer < 10.1.2.3", 8, "compared with == and !=");
    expect_rejection("peer == 5", 9, "is an address");
    expect_rejection("hardware == 10.1.2.3", 13, "is a MAC address, and this is not");
}

TEST_F(predicates, compare_fields_with_one_another) {
    for (const char* text : {"bytes == limit", "left < bytes", "bytes > left", "limit >= peer_port",
                             "values[0] < values[2]", "share < limit", "why != label"}) {
        expect_match(text);
    }
    expect_no_match("bytes < limit");
    expect_rejection("bytes == why", 7, "they cannot be compared");
}

TEST_F(predicates, access_elements_and_nested_fields) {
    expect_match("values[1] == -2");
    expect_match("peer.port == 443");
    expect_rejection("values == 3", 11, "is an array: say which element");
    expect_rejection("values[3] == 3", 1, "has 3 elements");
    expect_rejection("bytes[0] == 3", 1, "is no array");
}

TEST_F(predicates, access_record_properties) {
    test_record record = packet();
    record.header().thread = 77;
    record.header().cpu = 3;
    record.header().time = 500;
    for (const char* text :
         {"pid == 4242", "tid == 77", "cpu == 3", R"(comm ~ "nginx*")", "level == warn",
          "level <= warn", "level < info", R"(provider == "net")", R"(event == "packet")",
          R"(event == "net:packet")", R"(event ~ "net:p*")", R"(event ~ "p*")", "time > 0",
          R"(time >= "2020-09-13T12:26:40Z")", R"(time < "2020-09-13T12:26:41Z")", ".level == 9",
          "pid > tid"}) {
        EXPECT_TRUE(matches(text, record)) << text;
    }
    EXPECT_FALSE(matches("level > warn", record));
    EXPECT_FALSE(matches(R"(comm == "nginx")", record));
    EXPECT_EQ(rejection("session == 5"), "--where, column 1: No event belongs to a session.");
}

TEST_F(predicates, parse_times) {
    expect_match(R"(at == "2020-09-13T12:26:40Z")");
    expect_match(R"(at < "2020-09-13 12:26:40.000000001Z")");
    expect_rejection(R"(at == "noon")", 7, "is no time");
    EXPECT_EQ(elog::parse_time("1970-01-02Z", 0), 86'400'000'000'000);
    EXPECT_EQ(elog::parse_time("1970-02-30T00:00:00Y", 0), std::nullopt);
    EXPECT_EQ(elog::parse_time("24:00", 0), std::nullopt);
    EXPECT_EQ(elog::parse_time("2026-02-30T00:00:00Z", 0), std::nullopt);
    EXPECT_EQ(elog::parse_time("2026-11-31", 0), std::nullopt);
    EXPECT_EQ(elog::parse_time("2028-02-29Z", 0), 1'835'395'200'000'000'000);
}

TEST(time_literal, without_date_is_on_current_day_of_its_zone) {
    constexpr std::int64_t second = 1'000'000'000;
    // Two o'clock of the second day there, eleven at night of the first day in UTC.
    ::setenv("TZ", "EEST-3", 1);
    ::tzset();
    EXPECT_EQ(elog::parse_time("23:30:00Z", 82800 * second), 84600 * second);
    EXPECT_EQ(elog::parse_time("02:30:00", 82800 * second), 84600 * second);
    ::setenv("TZ", "UTC", 1);
    ::tzset();
}

TEST(time_literal, outside_64_bit_range_is_none) {
    // On the days on which the first and the last nanosecond are.
    EXPECT_EQ(elog::parse_time("23:59Z", INT64_MAX), std::nullopt);
    EXPECT_EQ(elog::parse_time("00:00Z", INT64_MIN), std::nullopt);
    EXPECT_GT(elog::parse_time("23:47Z", INT64_MAX), INT64_MAX / 2);
}

TEST_F(predicates, have_precedence_of_c) {
    expect_match("bytes == 0 && left == 0 || good");
    expect_match("good || bytes == 0 && left == 0");
    expect_no_match("(good || bytes == 0) && left == 0");
    expect_match("!good || left == -7");
    expect_no_match("!(good || left == -7)");
    expect_match("!!good");
    expect_match("!(bytes == 0 && good) && !(left == 0)");
}

TEST_F(predicates, treat_absent_values_as_unknown) {
    test_record other = net.record("other");
    other.set_text("name", "x");
    other.set("bytes", std::uint64_t{5});
    EXPECT_FALSE(matches("left == 3", other));
    EXPECT_FALSE(matches("left != 3", other));
    EXPECT_FALSE(matches("!(left == 3)", other));
    EXPECT_TRUE(matches("left == 3 || bytes == 5", other));
    EXPECT_FALSE(matches("left == 3 && bytes == 5", other));
    EXPECT_FALSE(matches("!(left == 3 && bytes == 5)", other));
    EXPECT_TRUE(matches("!(left == 3 && bytes == 6)", other));
    EXPECT_FALSE(matches("has(left)", other));
    EXPECT_TRUE(matches("!has(left)", other));
    EXPECT_TRUE(matches("has(name)", other));
}

TEST_F(predicates, test_presence_of_optional_fields) {
    test_record record = packet();
    EXPECT_FALSE(matches("maybe == 0", record));
    EXPECT_FALSE(matches("maybe != 0", record));
    EXPECT_TRUE(matches("!has(maybe)", record));
    record.set("maybe", std::uint64_t{5});
    EXPECT_TRUE(matches("maybe == 5", record));
    EXPECT_TRUE(matches("has(maybe)", record));
    record.set_text("maybe_why", "because");
    EXPECT_TRUE(matches(R"(maybe_why ~ "b*")", record));
}

TEST_F(predicates, treat_null_pointer_as_absent) {
    test_record record = packet();
    record.set_text("why", nullptr);
    EXPECT_FALSE(matches(R"(why == "")", record));
    EXPECT_FALSE(matches(R"(why != "")", record));
    EXPECT_FALSE(matches("has(why)", record));
}

TEST_F(predicates, survive_hostile_payloads) {
    test_record record = packet();
    for (std::size_t size = record.view().payload.size(); size-- > 0;) {
        elog::record_view cut = record.view();
        const std::vector<std::uint8_t> payload(
            cut.payload.begin(), cut.payload.begin() + static_cast<std::ptrdiff_t>(size));
        cut.payload = payload;
        elog::record_filter filter(
            elog::predicate("--where",
                            R"(why != "" || far ~ ::/0 || left > 5 || maybe == 3 || label != "")"),
            0);
        filter.add(net.provider());
        static_cast<void>(filter.matches(cut, record_builder::clock()));
        EXPECT_FALSE(size == 0 && filter.matches(cut, record_builder::clock()));
    }
}

TEST_F(predicates, match_no_unknown_events_or_flags) {
    elog::record_filter filter(elog::predicate("--where", "pid > 0"), 0);
    filter.add(net.provider());
    test_record record = packet();
    EXPECT_TRUE(filter.matches(record.view(), record_builder::clock()));
    record.header().flags = 0x8000;
    EXPECT_FALSE(filter.matches(record.view(), record_builder::clock()));
    record.header().flags = EVENTLOG_RECORD_CUT;
    EXPECT_TRUE(filter.matches(record.view(), record_builder::clock()));
    record.header().event = 99;
    EXPECT_FALSE(filter.matches(record.view(), record_builder::clock()));
    record.header().event = 0;
    record.header().provider = 7;
    EXPECT_FALSE(filter.matches(record.view(), record_builder::clock()));
}

TEST_F(predicates, fold_constants) {
    const auto verdict_of = [this](std::string_view text, std::uint16_t event) {
        elog::record_filter filter(elog::predicate("--where", text), 0);
        filter.add(net.provider());
        return filter.verdict_of(0, event);
    };
    using verdict = elog::record_filter::verdict;
    EXPECT_EQ(verdict_of(R"(event == "packet")", 0), verdict::always);
    EXPECT_EQ(verdict_of(R"(event == "packet")", 1), verdict::never);
    EXPECT_EQ(verdict_of(R"(event == "packet" && bytes > 5)", 0), verdict::depends);
    EXPECT_EQ(verdict_of("bytes > 5", 2), verdict::never);
    EXPECT_EQ(verdict_of("level <= warn || bytes > 5", 0), verdict::always);
    EXPECT_EQ(verdict_of("left > 5 && pid == 1", 0), verdict::never);
}

TEST_F(predicates, evaluate_only_deciding_fields) {
    // 'size' of other is a float, and so no text: but only packets are asked.
    expect_match(R"(event == "packet" && bytes > 5 && !(event == "other" && size == "x"))");
    expect_rejection("bytes > 5 && size == \"x\"", 22, "'size' of net:other is a number");
}

/// Adds versions of a provider to a filter, whatever it says of each.
void add_versions(elog::record_filter& filter, const std::vector<const record_builder*>& versions) {
    for (const record_builder* version : versions) {
        try {
            filter.add(version->provider());
        } catch (const elog::user_error&) {  // check_types says whether that is a mistake
        }
    }
}

TEST(predicate_versions, are_compared_by_their_own_types) {
    const record_builder one("provider shop { event order info { number: u32 } }", "one", 1, 0);
    const record_builder other("provider shop { event order info { number: text } }", "other", 2, 1);
    elog::record_filter filter(elog::predicate("--where", "number == 7"), 0);
    add_versions(filter, {&one, &other});
    EXPECT_NO_THROW(filter.check_types());
    EXPECT_TRUE(filter.mismatches().sentences().empty());
    test_record wanted = one.record("order");
    wanted.set("number", std::uint64_t{7});
    test_record mismatches = other.record("order");
    mismatches.set_text("number", "7");
    EXPECT_TRUE(filter.matches(wanted.view(), record_builder::clock()));
    EXPECT_FALSE(filter.matches(mismatches.view(), record_builder::clock()));
    EXPECT_FALSE(filter.matches(mismatches.view(), record_builder::clock()));
    EXPECT_EQ(filter.mismatches().counted(), 2U);
    ASSERT_EQ(filter.mismatches().sentences().size(), 1U);
    EXPECT_TRUE(filter.mismatches().sentences()[0].starts_with(
        "2 events of shop:order by another version of its provider were left out: --where, column "
        "11: 'number' of shop:order is a text"))
        << filter.mismatches().sentences()[0];
    // Its number may become that of a provider that is suited.
    const record_builder later("provider shop { event order info { number: u32 } }", "one", 3, 1);
    filter.add(later.provider());
    test_record late = later.record("order");
    EXPECT_FALSE(filter.matches(late.view(), record_builder::clock()));
    EXPECT_EQ(filter.mismatches().counted(), 2U);
}

TEST(predicate_versions, are_rejected_if_no_version_matches) {
    const record_builder lacking("provider shop { event order info { number: u32 } }", "one", 1, 0);
    const record_builder other("provider shop { event order info { price: text } }", "other", 2, 1);
    // That a version lacks the field makes no sense of what is asked of another one.
    elog::record_filter filter(elog::predicate("--where", "price > 7"), 0);
    add_versions(filter, {&lacking, &other});
    EXPECT_THROW(filter.check_types(), elog::user_error);
    // Nor does another event.
    const record_builder events("provider shop { event order info { price: text } "
                              "event refund info { price: u32 } }",
                              "events", 3, 0);
    elog::record_filter both(elog::predicate("--where", "price > 7"), 0);
    add_versions(both, {&events});
    EXPECT_THROW(both.check_types(), elog::user_error);
}

TEST_F(predicates, comparing_different_types_are_rejected) {
    expect_rejection("bytes == \"1500\"", 10, "is a number, and this is a text");
    expect_rejection("why == 5", 8, "is a text, and this is a number");
    expect_rejection("why == 'x'", 8, "is a text, and this is a char");
    expect_rejection("bytes == 10.0.0.1", 10, "is a number, and this is an address");
    expect_rejection("bytes ~ \"1*\"", 9, "~ is for texts");
    expect_rejection("good == 1", 9, "is a bool");
    expect_rejection("good < true", 8, "is a bool");
    expect_rejection("bytes", 1, "is a number, no condition");
    expect_rejection("raw == 5", 8, "byte string");
    expect_rejection("tag == \"xy\"", 8, "is a char");
    expect_rejection("bytes == 1e3", 10, "without exponent");
}

TEST_F(predicates, with_unknown_field_get_suggestion) {
    expect_rejection("bites > 5", 1, "No event has a field 'bites'. Did you mean 'bytes'?");
    expect_rejection("left > 5 && pidd == 1", 13, "Did you mean 'pid'?");
    expect_rejection("why == timeout", 8, "Texts need double quotes");
    expect_rejection("event == \"packet\" && statte == connected", 22, "Did you mean 'state'?");
}

TEST_F(predicates, with_syntax_error_are_rejected_with_column) {
    expect_rejection("", 1, "There is no condition");
    expect_rejection("bytes >", 8, "A field or a value is missing in front of the end");
    expect_rejection("bytes > 5 left < 3", 11, "'left' does not belong here");
    expect_rejection("(bytes > 5", 11, "A ) is missing");
    expect_rejection("bytes = 5", 7, "write ==");
    expect_rejection("1 < bytes < 5", 11, "join two comparisons with &&");
    expect_rejection("5 == 5", 3, "must be a field");
    expect_rejection("why == \"x", 8, "is not closed");
    expect_rejection(R"(why == "\q")", 9, "A backslash stands");
    expect_rejection("bytes > 5 | left < 3", 11, "Conditions are joined with ||");
    expect_rejection("bytes > 99999999999999999999", 9, "too many digits");
    expect_rejection("bytes > 0x1ffffffffffffffff", 9, "does not fit 64 bits");
    expect_rejection("bytes $ 5", 7, "'$' means nothing");
    expect_rejection("bytes > \x01", 9, "Byte 0x01");
    expect_rejection("über > 5", 1, "means nothing");
    expect_rejection("why == \"ü\" & 5", 12, "& binds less tightly");
    expect_rejection("has(5)", 5, "has() needs a field");
    expect_rejection("bytes > -why", 9, "A number must follow -");
}

TEST_F(predicates, are_limited_in_size) {
    const auto nested = [](std::size_t depth) {
        return std::string(depth, '(') + "good" + std::string(depth, ')');
    };
    expect_match(nested(elog::predicate_depth_max));
    EXPECT_NE(rejection(nested(elog::predicate_depth_max + 1)).find("Write it flatter"),
              std::string::npos);
    EXPECT_NE(rejection(std::string(100, '!') + "good").find("Write it flatter"), std::string::npos);
    EXPECT_NE(rejection(std::string(elog::expression_size_max + 1, ' ')).find("up to 4096"),
              std::string::npos);
    std::string many = "bytes==0";
    while (many.size() + 10 < elog::expression_size_max) {
        many += "||bytes==0";
    }
    expect_no_match(many);
    expect_match("!(" + many.substr(0, 4000 - 4000 % 10 - 2) + ")");
}

}  // namespace
