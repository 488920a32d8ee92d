// SPDX-License-Identifier: MIT
#include "output/text_writer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/user_error.hpp"
#include "record/display_clock.hpp"
#include "record_builder.hpp"
#include "schema/value_text.hpp"
#include "text/escaped_text.hpp"
#include "text/time_of_day.hpp"

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

TEST(quoted_text, keeps_printable_characters) {
    EXPECT_EQ(quoted("plain text"), "\"plain text\"");
    EXPECT_EQ(quoted(""), "\"\"");
    EXPECT_EQ(quoted("chloë €uro 😀"), "\"chloë €uro 😀\"");
}

TEST(quoted_text, escapes_quotes_and_backslashes) {
    EXPECT_EQ(quoted("say \"a\\b\""), R"("say \"a\\b\"")");
}

TEST(quoted_text, escapes_terminal_control_characters) {
    EXPECT_EQ(quoted("\x1b[31mred\x07"), R"("\x1b[31mred\x07")");
    EXPECT_EQ(quoted("line\nnext\ttab\rback"), R"("line\nnext\ttab\rback")");
    EXPECT_EQ(quoted("a\0b"sv), R"("a\x00b")");
    EXPECT_EQ(quoted("\xc2\x9b"), R"("\xc2\x9b")");          // CSI as a single character
    EXPECT_EQ(quoted("\xe2\x80\xae"), R"("\xe2\x80\xae")");  // right-to-left override
    EXPECT_EQ(quoted("\x7f"), R"("\x7f")");
    EXPECT_EQ(quoted("\xe2\x80\x8b"), R"("\xe2\x80\x8b")");  // zero width
    EXPECT_EQ(quoted("\xef\xbb\xbf"), R"("\xef\xbb\xbf")");  // byte order mark
}

TEST(quoted_text, escapes_invalid_utf_8) {
    EXPECT_EQ(quoted("\xff"), R"("\xff")");
    EXPECT_EQ(quoted("a\xc3"), R"("a\xc3")");                        // truncated
    EXPECT_EQ(quoted("\xc0\xaf"), R"("\xc0\xaf")");                  // overlong form
    EXPECT_EQ(quoted("\xe0\x80\xaf"), R"("\xe0\x80\xaf")");          // overlong form
    EXPECT_EQ(quoted("\xed\xa0\x80"), R"("\xed\xa0\x80")");          // surrogate
    EXPECT_EQ(quoted("\xf4\x90\x80\x80"), R"("\xf4\x90\x80\x80")");  // after the last code point
    EXPECT_EQ(quoted("\x80"), R"("\x80")");
}

TEST(field_value, is_formatted_by_type) {
    EXPECT_EQ(shown(true), "true");
    EXPECT_EQ(shown('x'), "'x'");
    EXPECT_EQ(shown('\''), R"('\'')");
    EXPECT_EQ(shown('\\'), R"('\\')");
    EXPECT_EQ(shown('\n'), R"('\n')");
    EXPECT_EQ(shown(std::int64_t{-5}), "-5");
    EXPECT_EQ(shown(std::uint64_t{18446744073709551615U}), "18446744073709551615");
    EXPECT_EQ(shown(1.5), "1.5");
    EXPECT_EQ(shown(elog::null_text{}), "(null)");
    EXPECT_EQ(shown(elog::damaged_value{}), "<damaged>");
}

/// The output for the records, with a local time zone one hour ahead of UTC, or UTC.
std::string lines_of(const std::vector<elog::merged_record>& records,
                     const elog::provider_map& providers, elog::text_options options = {},
                     const char* zone = "UTC") {
    ::setenv("TZ", zone, 1);
    ::tzset();
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    elog::clock_converter clock(EVENTLOG_CLOCK_MONOTONIC);
    clock.add({1'000'000'000, 1'000'000'000, 1'600'000'000'000'000'000});
    elog::text_writer writer(ends[1], std::move(options));
    for (const elog::merged_record& record : records) {
        writer.write(record, providers, clock, 9);
    }
    writer.finish();
    writer.flush();
    std::array<char, 4096> text{};
    const ssize_t size = ::read(ends[0], text.data(), text.size());
    ::close(ends[0]);
    ::close(ends[1]);
    ::setenv("TZ", "UTC", 1);
    ::tzset();
    return {text.data(), static_cast<std::size_t>(size)};
}

std::string line_of(const elog::merged_record& record, const elog::provider_map& providers) {
    return lines_of({record}, providers);
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

TEST(text_line, matches_manual) {
    const std::array<std::uint8_t, 4> payload{3, 0, 0, 0};
    elog::merged_record record;
    record.record.time = 1'000'123'456 + 999;
    record.record.thread = 4242;
    record.record.cpu = 1;
    record.record.payload = payload;
    EXPECT_EQ(line_of(record, one_provider()),
              "12:26:40.000124 [001] my\\x1bprog-4242 shop:sold items=3\n");
}

TEST(time_of_day, is_correct_at_minimum_time) {
    elog::time_of_day times(elog::time_of_day::zone::utc);
    fmt::memory_buffer out;
    for (const std::int64_t time : {INT64_MIN, std::int64_t{-1}, INT64_MAX}) {
        times.append_date(out, time);
        out.push_back(' ');
        times.append_to(out, time);
        out.push_back('\n');
    }
    EXPECT_EQ(fmt::to_string(out), "1677-09-21 00:12:43.145224Z\n1969-12-31 23:59:59.999999Z\n"
                                   "2262-04-11 23:47:16.854775Z\n");
}

TEST(time_of_day, without_zone_shows_none) {
    elog::time_of_day times(elog::time_of_day::zone::none);
    fmt::memory_buffer out;
    times.append_to(out, 37'000'000'000);
    EXPECT_EQ(fmt::to_string(out), "00:00:37.000000");
}

TEST(display_time, is_in_seconds_for_clocks_without_date) {
    elog::clock_converter clock(EVENTLOG_CLOCK_MONOTONIC);
    clock.add({1'500'000'001, 1'500'000'001, 0});
    clock.add_offsets({0, -2'000'000'002, 37'000'000'000});
    const auto shown_on = [&](elog::display_clock which) {
        elog::display_time time(which);
        fmt::memory_buffer out;
        time.append_to(out, clock, 1'500'000'001);
        return fmt::to_string(out);
    };
    EXPECT_EQ(shown_on(elog::display_clock::realtime), "1970-01-01T00:00:00.000000000Z");
    EXPECT_EQ(shown_on(elog::display_clock::monotonic), "1.500000001");
    EXPECT_EQ(shown_on(elog::display_clock::boottime), "-0.500000001");
    EXPECT_EQ(shown_on(elog::display_clock::tai), "1970-01-01T00:00:37.000000000");
}

TEST(display_time, is_rejected_if_clock_is_not_recorded) {
    const elog::clock_converter clock(EVENTLOG_CLOCK_MONOTONIC);
    EXPECT_THROW(static_cast<void>(elog::to_display_time(elog::display_clock::boottime, clock, 1)),
                 elog::user_error);
    EXPECT_THROW(static_cast<void>(elog::to_display_time(elog::display_clock::tai, clock, 1)),
                 elog::user_error);
}

TEST(text_line, reports_gap_before_record) {
    const std::array<std::uint8_t, 4> payload{3, 0, 0, 0};
    elog::merged_record record;
    record.lost_before = 17;
    record.ring = 2;
    record.record.payload = payload;
    EXPECT_EQ(line_of(record, one_provider()).find("-- lost 17 events on CPU 2: full --\n"), 0U);
}

TEST(text_line, shows_begin_and_end_of_a_pause) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    elog::clock_converter clock(EVENTLOG_CLOCK_MONOTONIC);
    clock.add({1'000'000'000, 1'000'000'000, 1'600'000'000'000'000'000});
    elog::text_writer writer(ends[1], {.utc = true});
    writer.write_mark({1'000'123'400, 1, elog::mark_kind::pause}, clock);
    writer.write_mark({2'000'000'000, 1, elog::mark_kind::resume}, clock);
    writer.finish();
    std::array<char, 4096> text{};
    const ssize_t size = ::read(ends[0], text.data(), text.size());
    ::close(ends[0]);
    ::close(ends[1]);
    EXPECT_EQ(std::string_view(text.data(), static_cast<std::size_t>(size)),
              "-- paused at 12:26:40.000123Z --\n-- resumed at 12:26:41.000000Z --\n");
}

TEST(text_line, distinguishes_overwritten_from_lost) {
    const std::array<std::uint8_t, 4> payload{3, 0, 0, 0};
    elog::merged_record record;
    record.lost_before = 17;
    record.overwritten = true;
    record.ring = 2;
    record.record.payload = payload;
    EXPECT_EQ(line_of(record, one_provider()).find("-- overwritten 17 events on CPU 2 --\n"), 0U);
}

TEST(text_line, marks_unknown_provider_or_event) {
    elog::merged_record record;
    record.record.event = 1;
    EXPECT_NE(line_of(record, one_provider()).find("<unknown provider 0 event 1, 0 bytes>"),
              std::string::npos);
    record.record.provider = 5;
    EXPECT_NE(line_of(record, one_provider()).find("<unknown provider 5"), std::string::npos);
}

TEST(text_line, record_with_unknown_flag_is_only_counted) {
    const std::array<std::uint8_t, 4> payload{3, 0, 0, 0};
    elog::merged_record record;
    record.record.flags = EVENTLOG_RECORD_TRUNCATED | EVENTLOG_RECORD_CUSTOM_TIME | 4;
    record.record.payload = payload;
    EXPECT_EQ(line_of(record, one_provider()),
              "-- 1 events of a newer version of eventlog are left out --\n");
    record.lost_before = 2;
    EXPECT_EQ(line_of(record, one_provider()),
              "-- lost 2 events on CPU 0: full --\n"
              "-- 1 events of a newer version of eventlog are left out --\n");
}

TEST(text_line, short_payload_is_shown_as_damaged) {
    elog::merged_record record;
    EXPECT_NE(line_of(record, one_provider()).find("items=<damaged>"), std::string::npos);
}

constexpr const char* trade = R"(
provider trade {
    event sold info { customer: text  items: u32  time: u16 }
    event closed warn session { connection: u64  items: u32 }
}
)";

class text_writer_options : public testing::Test {
  protected:
    text_writer_options() : sold(maker.record("sold")), closed(maker.record("closed")) {
        sold.set("items", std::uint64_t{3});
        sold.set("time", std::uint64_t{9});
        sold.set_text("customer", "a\nb");
        sold.header().time = 1'000'123'456;
        sold.header().thread = 4243;
        sold.header().cpu = 1;
        closed.set("connection", std::uint64_t{77});
        closed.set("items", std::uint64_t{5});
        closed.header().time = 3'500'123'999;
    }

    [[nodiscard]] std::string show(elog::text_options options, const char* zone = "UTC") {
        return lines_of({{0, 0, sold.view()}, {0, 0, closed.view()}}, providers, std::move(options),
                        zone);
    }
    [[nodiscard]] std::string show_as(std::string_view line) {
        elog::text_options options;
        options.line.emplace(line);
        return show(std::move(options));
    }
    [[nodiscard]] std::string complaint(const elog::text_options& options) {
        try {
            elog::check_fields(options, providers);
        } catch (const elog::user_error& error) {
            return error.what();
        }
        return "none";
    }

    eventlog::test::record_builder maker{trade, "till", 4242};
    elog::provider_map providers{{0, maker.provider()}};
    eventlog::test::test_record sold;
    eventlog::test::test_record closed;
};

TEST_F(text_writer_options, show_selected_fields_in_order) {
    elog::text_options options;
    options.fields = elog::parse_field_list("items,customer");
    EXPECT_EQ(show(options),
              "12:26:40.000123 [001] till-4243 trade:sold items=3 customer=\"a\\nb\"\n"
              "12:26:42.500123 [000] till-0 trade:closed items=5\n");
}

TEST_F(text_writer_options, show_time_since_previous_event) {
    elog::text_options options;
    options.delta = true;
    const std::string lines = show(options);
    EXPECT_EQ(lines.find("12:26:40.000123 <    0.000000> [001] till"), 0U) << lines;
    EXPECT_NE(lines.find("\n12:26:42.500123 <    2.500000> [000] till"), std::string::npos)
        << lines;
    std::swap(sold, closed);
    EXPECT_NE(show(options).find("\n12:26:40.000123 <   -2.500000> [001] till"), std::string::npos);
}

TEST_F(text_writer_options, show_utc_times_with_z) {
    elog::text_options options;
    EXPECT_EQ(show(options, "CET-1").find("13:26:40.000123 [001]"), 0U);
    options.utc = true;
    EXPECT_EQ(show(options, "CET-1").find("12:26:40.000123Z [001]"), 0U);
}

constexpr std::int64_t day_of_events = 1'600'000'000'000'000'000;  // 2020-09-13T12:26:40Z
constexpr std::int64_t one_day = 86'400'000'000'000;

TEST_F(text_writer_options, show_no_date_on_same_day) {
    elog::text_options options;
    options.today = day_of_events + 11 * one_day / 24;
    EXPECT_EQ(show(options).find("12:26:40.000123 [001]"), 0U);
    options.today = day_of_events - 12 * one_day / 24;
    EXPECT_EQ(show(options).find("12:26:40.000123 [001]"), 0U);
}

TEST_F(text_writer_options, show_date_of_other_day_in_the_zone_shown) {
    elog::text_options options;
    options.today = day_of_events + 12 * one_day / 24;
    const std::string lines = show(options);
    EXPECT_EQ(lines.find("2020-09-13 12:26:40.000123 [001] till"), 0U) << lines;
    EXPECT_NE(lines.find("\n2020-09-13 12:26:42.500123 [000] till"), std::string::npos) << lines;
    // There it is 00:26 of the next day, as in the zone's today.
    EXPECT_EQ(show(options, "EAST-12").find("00:26:40.000123 [001]"), 0U);
    options.utc = true;
    EXPECT_EQ(show(options, "EAST-12").find("2020-09-13 12:26:40.000123Z [001]"), 0U);
    options.delta = true;
    EXPECT_EQ(show(options).find("2020-09-13 12:26:40.000123Z <    0.000000> [001]"), 0U);
}

TEST_F(text_writer_options, show_date_from_first_event_of_other_day_on) {
    elog::text_options options;
    options.today = day_of_events;
    // Midnight is between the two events in this zone, and a third one is of today again.
    const std::string lines =
        lines_of({{0, 0, sold.view()}, {0, 0, closed.view()}, {0, 0, sold.view()}}, providers,
                 options, "LATE-11:33:19");
    EXPECT_EQ(lines.find("23:59:59.000123 [001]"), 0U) << lines;
    EXPECT_NE(lines.find("\n2020-09-14 00:00:01.500123 [000]"), std::string::npos) << lines;
    EXPECT_NE(lines.find("\n2020-09-13 23:59:59.000123 [001]"), std::string::npos) << lines;
}

TEST_F(text_writer_options, show_no_date_in_templates_and_on_clocks_without_days) {
    elog::text_options options;
    options.today = day_of_events + 30 * one_day;
    options.clock = elog::display_clock::monotonic;
    EXPECT_EQ(show(options).find("1.000123 [001]"), 0U) << show(options);
    options.clock = elog::display_clock::realtime;
    options.line.emplace("{time} {event}");
    EXPECT_EQ(show(options), "12:26:40.000123 sold\n12:26:42.500123 closed\n");
}

TEST_F(text_writer_options, color_names_by_level_and_losses) {
    elog::text_options options;
    options.has_colors = true;
    options.fields = elog::parse_field_list("items");
    EXPECT_EQ(lines_of({{0, 2, sold.view()}, {0, 0, closed.view()}}, providers, options),
              "\x1b[1;31m-- lost 2 events on CPU 0: full --\x1b[0m\n"
              "12:26:40.000123 [001] till-4243 \x1b[1mtrade:sold\x1b[0m items=3\n"
              "12:26:42.500123 [000] till-0 \x1b[1;35mtrade:closed\x1b[0m items=5\n");
}

TEST_F(text_writer_options, apply_template) {
    EXPECT_EQ(show_as("{date} {time} {delta} {cpu} {pid} {tid} {uid} {comm} {level} {provider} "
                      "{event}"),
              "2020-09-13 12:26:40.000123 0.000000 1 4242 4243 0 till info trade sold\n"
              "2020-09-13 12:26:42.500123 2.500000 0 4242 0 0 till warn trade closed\n");
    EXPECT_EQ(show_as("{{{customer}}}\\t{items}"), "{\"a\\nb\"}\t3\n{-}\t5\n");
    EXPECT_EQ(show_as("{session} {.time}"), "- 9\n77 -\n");
}

TEST_F(text_writer_options, apply_field_selection_in_template) {
    EXPECT_EQ(show_as("{fields}"), "customer=\"a\\nb\" items=3 time=9\nconnection=77 items=5\n");
    elog::text_options options;
    options.line.emplace("{event}: {fields}");
    options.fields = elog::parse_field_list("customer");
    EXPECT_EQ(show(options), "sold: customer=\"a\\nb\"\nclosed: \n");
}

TEST_F(text_writer_options, mark_truncated_texts_in_every_form) {
    sold.header().flags = EVENTLOG_RECORD_TRUNCATED;
    EXPECT_EQ(show_as("{items}"), "3 (truncated)\n5\n");
}

TEST_F(text_writer_options, show_unknown_provider_in_default_form) {
    closed.header().provider = 9;
    EXPECT_EQ(show_as("{items}"),
              "3\n12:26:42.500123 [000] ?-0 <unknown provider 9 event 1, 12 bytes>\n");
}

TEST_F(text_writer_options, report_unknown_fields_with_suggestion) {
    elog::text_options options;
    options.fields = elog::parse_field_list("items,custmer");
    EXPECT_EQ(complaint(options),
              "--fields, column 7: No event has a field 'custmer'. Did you mean 'customer'?");
    options.fields = elog::parse_field_list("items,customer,connection");
    EXPECT_EQ(complaint(options), "none");
    options.line.emplace("{time} {itmes}");
    EXPECT_EQ(complaint(options),
              "--format, column 9: No event has a field 'itmes'. Did you mean 'items'?");
    options.line.emplace("{evnt}");
    EXPECT_EQ(complaint(options),
              "--format, column 2: No event has a field 'evnt'. Did you mean 'event'?");
    options.line.emplace("{session} {.time} {items}");
    EXPECT_EQ(complaint(options), "none");
    providers.clear();
    options.line.emplace("{anything}");
    EXPECT_EQ(complaint(options), "none");
}

TEST(text_output, without_reader_is_reported_as_closed) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    ::close(ends[0]);
    const auto before = ::signal(SIGPIPE, SIG_IGN);
    EXPECT_THROW(elog::write_all(ends[1], "text"), elog::output_closed);
    ::signal(SIGPIPE, before);
    ::close(ends[1]);
}

}  // namespace
