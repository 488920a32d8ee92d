// SPDX-License-Identifier: MIT
//
// The value of a predicate for a record.
#include "predicate/predicate.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "predicate/record_filter.hpp"
#include "predicate_fixture.hpp"
#include "record_builder.hpp"
#include "text/time_literal.hpp"

namespace {

using namespace predicate_test;

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

TEST_F(predicates, match_escaped_wildcards) {
    test_record record = packet();
    record.set_text("why", "2*3?\\x");
    for (const char* text : {R"(why ~ "2\*3\?\\x")", R"(why ~ "2\**")", R"(why ~ "*\\?")",
                             R"(why == "2\*3\?\\x")", R"(why == "2*3?\\x")"}) {
        EXPECT_TRUE(matches(text, record)) << text;
    }
    EXPECT_FALSE(matches(R"(why ~ "\*")", record));
    record.set_text("why", "2x3");
    EXPECT_FALSE(matches(R"(why ~ "2\*3")", record));
    EXPECT_TRUE(matches(R"(why ~ "2*3")", record));
    record.set_text("why", "M\xc3\xbcnchen");
    EXPECT_TRUE(matches(R"(why ~ "M?nchen")", record));
    EXPECT_FALSE(matches(R"(why ~ "M??nchen")", record));
    expect_rejection(R"(why ~ "\d")", 8, "A backslash stands in front of \", ', *, ?, \\");
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

TEST_F(predicates, test_bits_of_signed_numbers) {
    // -7 has all upper bits.
    for (const char* text :
         {"(left & 0x8000000000000000) == 0x8000000000000000", "left & 0x8000000000000000",
          "(left & 0x8000000000000000) == -9223372036854775808", "(left & 0x8000000000000000) > 0",
          "(left & 0xfffffffffffffff8) == 0xfffffffffffffff8", "(left & -8) == -8",
          "(left & -8) == 0xfffffffffffffff8", "(left & -8) < 0", "(left & 7) == 1",
          "(left & 0xffffffff) == 0xfffffff9"}) {
        expect_match(text);
    }
    for (const char* text :
         {"(left & 0x8000000000000000) != 0x8000000000000000", "(left & 0x8000000000000000) < 0",
          "(left & 0x8000000000000000) == 0", "(left & -8) == 8", "(left & -8) > 0",
          "(left & 7) == -1", "(bytes & 0xffffffffffffffff) == -1500"}) {
        expect_no_match(text);
    }
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

TEST_F(predicates, convert_units_of_two_fields) {
    // 100 ms and 2.5 ms: compared without their units, 100 and 2500000.
    for (const char* text : {"waited > took", "took < waited", "!(waited <= took)",
                             "took != waited", "took > limit", "limit < took", "bytes == limit"}) {
        expect_match(text);
    }
    test_record equal = packet();
    equal.set("took", std::int64_t{100'000'000});
    EXPECT_TRUE(matches("took == waited", equal));
    EXPECT_FALSE(matches("waited < took", equal));
    equal.set("took", std::int64_t{100'000'001});
    EXPECT_TRUE(matches("waited < took", equal));
    expect_rejection("bytes > took", 7,
                     "'bytes' of net:packet is a size, and 'took' of net:packet is a time");
    expect_rejection("waited < bytes", 8, "is a time in ms, and 'bytes' of net:packet is a size");
    expect_rejection("at > took", 4, "is a point in time");
    expect_rejection("time > took", 6, "is a point in time");
}

TEST_F(predicates, compare_addresses_of_two_fields) {
    expect_no_match("peer == far");
    expect_match("peer != far");
    test_record mapped = packet();
    mapped.set_bytes("far", {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 1, 2, 3});
    EXPECT_TRUE(matches("peer == far", mapped));
    EXPECT_TRUE(matches("far == peer", mapped));
    EXPECT_FALSE(matches("far != peer", mapped));
    expect_rejection("peer == hardware", 6, "A MAC address and an IP address");
    expect_rejection("peer < far", 6, "cannot be compared like that");
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
    for (const char* text : {"pid == 4242",
                             "tid == 77",
                             "cpu == 3",
                             R"(comm ~ "nginx*")",
                             "level == warn",
                             "level <= warn",
                             "level < info",
                             "level < debug",
                             "level != debug",
                             R"(level < "debug")",
                             R"(provider == "net")",
                             R"(event == "packet")",
                             R"(event == "net:packet")",
                             R"(event ~ "net:p*")",
                             R"(event ~ "p*")",
                             "time > 0",
                             R"(time >= "2020-09-13T12:26:40Z")",
                             R"(time < "2020-09-13T12:26:41Z")",
                             ".level == 9",
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
    record.header().flags = 0x80;
    EXPECT_FALSE(filter.matches(record.view(), record_builder::clock()));
    record.header().flags = EVENTLOG_RECORD_TRUNCATED;
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
    // 'size' of `other` is a float and comparing it with a text is an error, but the condition on
    // the event excludes `other`.
    expect_match(R"(event == "packet" && bytes > 5 && !(event == "other" && size == "x"))");
    expect_rejection("bytes > 5 && size == \"x\"", 22, "'size' of net:other is a number");
}

}  // namespace
