// SPDX-License-Identifier: MIT
#include "text_writer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace {

using namespace std::string_view_literals;

std::string quoted(std::string_view text) {
    fmt::memory_buffer out;
    elog::append_quoted(out, text);
    return {out.data(), out.size()};
}

std::string shown(const elog::field_value& value) {
    fmt::memory_buffer out;
    elog::append_value(out, value);
    return {out.data(), out.size()};
}

TEST(quoted_text, leaves_what_is_printable) {
    EXPECT_EQ(quoted("plain text"), "\"plain text\"");
    EXPECT_EQ(quoted(""), "\"\"");
    EXPECT_EQ(quoted("chloë €uro 😀"), "\"chloë €uro 😀\"");
}

TEST(quoted_text, escapes_quotes_and_backslashes) {
    EXPECT_EQ(quoted("say \"a\\b\""), R"("say \"a\\b\"")");
}

TEST(quoted_text, escapes_what_a_terminal_obeys) {
    EXPECT_EQ(quoted("\x1b[31mred\x07"), R"("\x1b[31mred\x07")");
    EXPECT_EQ(quoted("line\nnext\ttab\rback"), R"("line\nnext\ttab\rback")");
    EXPECT_EQ(quoted("a\0b"sv), R"("a\x00b")");
    EXPECT_EQ(quoted("\xc2\x9b"), R"("\xc2\x9b")");          // CSI as one character
    EXPECT_EQ(quoted("\xe2\x80\xae"), R"("\xe2\x80\xae")");  // right-to-left override
    EXPECT_EQ(quoted("\x7f"), R"("\x7f")");
    EXPECT_EQ(quoted("\xe2\x80\x8b"), R"("\xe2\x80\x8b")");  // zero width
    EXPECT_EQ(quoted("\xef\xbb\xbf"), R"("\xef\xbb\xbf")");  // byte order mark
}

TEST(quoted_text, escapes_what_is_not_utf_8) {
    EXPECT_EQ(quoted("\xff"), R"("\xff")");
    EXPECT_EQ(quoted("a\xc3"), R"("a\xc3")");                        // cut off
    EXPECT_EQ(quoted("\xc0\xaf"), R"("\xc0\xaf")");                  // too long a form
    EXPECT_EQ(quoted("\xe0\x80\xaf"), R"("\xe0\x80\xaf")");          // too long a form
    EXPECT_EQ(quoted("\xed\xa0\x80"), R"("\xed\xa0\x80")");          // a surrogate
    EXPECT_EQ(quoted("\xf4\x90\x80\x80"), R"("\xf4\x90\x80\x80")");  // behind the last one
    EXPECT_EQ(quoted("\x80"), R"("\x80")");
}

TEST(field_value, is_shown_by_its_type) {
    EXPECT_EQ(shown(true), "true");
    EXPECT_EQ(shown('x'), "'x'");
    EXPECT_EQ(shown('\n'), R"('\n')");
    EXPECT_EQ(shown(std::int64_t{-5}), "-5");
    EXPECT_EQ(shown(std::uint64_t{18446744073709551615U}), "18446744073709551615");
    EXPECT_EQ(shown(1.5), "1.5");
    EXPECT_EQ(shown(elog::null_text{}), "(null)");
    EXPECT_EQ(shown(elog::damaged_value{}), "<damaged>");
}

/// What a writer says about one record, with the local time zone set to UTC.
std::string line_of(const elog::merged_record& record, const elog::provider_map& providers) {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    elog::clock_table clock(EVENTLOG_CLOCK_MONOTONIC);
    clock.add({1'000'000'000, 1'000'000'000, 1'600'000'000'000'000'000});
    elog::text_writer writer(ends[1]);
    writer.write(record, providers, clock, 9);
    writer.finish();
    writer.flush();
    std::array<char, 4096> text{};
    const ssize_t size = ::read(ends[0], text.data(), text.size());
    ::close(ends[0]);
    ::close(ends[1]);
    return {text.data(), static_cast<std::size_t>(size)};
}

elog::provider_map one_provider() {
    elog::provider_instance provider;
    provider.process = "my\x1bprog";
    provider.schema.name = "shop";
    elog::event_schema& sold = provider.schema.events.emplace_back();
    sold.name = "sold";
    sold.fixed_size = 4;
    sold.fields.push_back({"items", eventlog::field_type::unsigned_32, 0});
    return {{0, provider}};
}

TEST(text_line, is_as_the_manual_says) {
    const std::array<std::uint8_t, 4> payload{3, 0, 0, 0};
    elog::merged_record record;
    record.record.header.time = 1'000'123'456 + 999;
    record.record.header.thread = 4242;
    record.record.header.cpu = 1;
    record.record.payload = payload;
    EXPECT_EQ(line_of(record, one_provider()),
              "12:26:40.000124 [001] my\\x1bprog-4242 shop:sold items=3\n");
}

TEST(text_line, tells_a_gap_before_the_record) {
    const std::array<std::uint8_t, 4> payload{3, 0, 0, 0};
    elog::merged_record record;
    record.lost_before = 17;
    record.ring = 2;
    record.record.payload = payload;
    EXPECT_EQ(line_of(record, one_provider()).find("-- lost 17 events on CPU 2 --\n"), 0U);
}

TEST(text_line, of_an_unknown_provider_or_event_says_so) {
    elog::merged_record record;
    record.record.header.event = 1;
    EXPECT_NE(line_of(record, one_provider()).find("<unknown provider 0 event 1, 0 bytes>"),
              std::string::npos);
    record.record.header.provider = 5;
    EXPECT_NE(line_of(record, one_provider()).find("<unknown provider 5"), std::string::npos);
}

TEST(text_line, of_a_record_with_an_unknown_flag_is_only_counted) {
    const std::array<std::uint8_t, 4> payload{3, 0, 0, 0};
    elog::merged_record record;
    record.record.header.flags = EVENTLOG_RECORD_CUT | 2;
    record.record.payload = payload;
    EXPECT_EQ(line_of(record, one_provider()),
              "-- 1 events of a newer version of eventlog are left out --\n");
    record.lost_before = 2;
    EXPECT_EQ(line_of(record, one_provider()),
              "-- lost 2 events on CPU 0 --\n"
              "-- 1 events of a newer version of eventlog are left out --\n");
}

TEST(text_line, of_a_payload_that_is_too_short_shows_damage_and_no_value) {
    elog::merged_record record;
    EXPECT_NE(line_of(record, one_provider()).find("items=<damaged>"), std::string::npos);
}

TEST(text_output, that_nobody_reads_any_more_is_reported_as_closed) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    ::close(ends[0]);
    const auto before = ::signal(SIGPIPE, SIG_IGN);
    EXPECT_THROW(elog::write_all(ends[1], "text"), elog::output_closed);
    ::signal(SIGPIPE, before);
    ::close(ends[1]);
}

}  // namespace
