// SPDX-License-Identifier: MIT
//
// The screen of elog top: its lines, and the effect of keys.
#include "top/top_frame.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "record_builder.hpp"
#include "terminal/wrapped_text.hpp"

namespace {

using elog::key;
using eventlog::test::record_builder;
using eventlog::test::test_record;

constexpr const char* trade = R"(provider trade {
    event sold info { items: u32 customer: text }
    event closed error { }
})";

elog::frame_style style_of(std::size_t columns, std::size_t rows) {
    return {columns, rows, false, true};
}

std::string joined(const elog::top_frame& frame) {
    std::string all;
    for (const elog::frame_line& line : frame.lines) {
        all += line.text() + "\n";
    }
    return all;
}

bool has(const elog::top_frame& frame, std::string_view text) {
    return joined(frame).find(text) != std::string::npos;
}

/// A provider with a name of any bytes; the schema parser would reject it.
elog::provider_instance hostile_provider(std::string name, std::uint32_t id) {
    elog::provider_instance provider;
    provider.id = id;
    provider.schema.name = std::move(name);
    elog::event_schema event;
    event.name = "\x1b[2J\x1b]0;owned\a\n\xff" + std::string(300, 'x');
    event.description = "\x9b\x31mred\r";
    provider.schema.events.push_back(event);
    return provider;
}

elog::record_view record_of(std::uint32_t provider) {
    elog::record_view record;
    record.provider = provider;
    return record;
}

void expect_to_fit(const elog::top_frame& frame, const elog::frame_style& style) {
    EXPECT_LE(frame.lines.size(), style.rows);
    for (const elog::frame_line& line : frame.lines) {
        EXPECT_EQ(elog::columns_of(line.text()), line.columns()) << line.text();
        EXPECT_LE(line.columns(), style.columns) << line.text();
        EXPECT_TRUE(std::none_of(line.text().begin(), line.text().end(), [](char c) {
            return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
        })) << line.text();
    }
}

class top_screen : public testing::Test {
  protected:
    top_screen() { counted.add(maker.provider()); }

    void sell(std::uint32_t times, const char* customer = "ann") {
        test_record sold = maker.record("sold");
        sold.set("items", std::uint64_t{times});
        sold.set_text("customer", customer);
        for (std::uint32_t i = 0; i < times; ++i) {
            counted.take(sold.view());
        }
    }

    void close(std::uint32_t times) {
        test_record closed = maker.record("closed");
        for (std::uint32_t i = 0; i < times; ++i) {
            counted.take(closed.view());
        }
    }

    [[nodiscard]] elog::top_frame draw(std::size_t columns = 80, std::size_t rows = 24) {
        elog::top_frame frame = elog::draw_top(counted, view, notes, style_of(columns, rows));
        page = frame.page;
        return frame;
    }

    void press(key pressed) {
        view.press(pressed, counted, page);
        if (view.opened()) {
            counted.examine(*view.opened());
        }
    }

    record_builder maker{trade, "till", 4242};
    elog::top_statistics counted;
    elog::top_view view;
    elog::frame_notes notes{.listening = "trade:*"};
    elog::visible_page page;
};

TEST_F(top_screen, shows_empty_state) {
    EXPECT_TRUE(has(elog::draw_top({}, view, notes, style_of(80, 24)), "No events yet."));
}

TEST_F(top_screen, shows_rate_total_and_losses_per_event) {
    sell(1500);
    close(20);
    counted.update_losses(0, 7);
    counted.end_interval(1);
    const elog::top_frame frame = draw();
    ASSERT_EQ(frame.lines.size(), 24U);
    EXPECT_TRUE(frame.lines[1].text().starts_with(
        "1 provider, 2 events: 1.5k/s, 36.2kB/s, 1.5k so far, 7 lost, 7/s now"))
        << frame.lines[1].text();
    EXPECT_TRUE(frame.lines[2].text().starts_with("  EVENT")) << frame.lines[2].text();
    const auto row = [](const char* name, const char* rate, const char* total, const char* lost) {
        return fmt::format("{:<18}{:>9}{:>9}{:>9}  ", name, rate, total, lost);
    };
    EXPECT_EQ(frame.lines[3].text().substr(0, 47), row("> trade", "1.5k", "1.5k", "7"));
    EXPECT_EQ(frame.lines[4].text().substr(0, 47), row("    sold", "1.5k", "1.5k", ""));
    EXPECT_EQ(frame.lines[5].text().substr(0, 47), row("    closed", "20", "20", ""));
    EXPECT_TRUE(frame.lines[23].text().starts_with("q quit")) << frame.lines[23].text();
}

TEST_F(top_screen, warns_of_losses_that_are_not_counted) {
    notes.has_uncounted_losses = true;
    EXPECT_TRUE(has(draw(), " so far, at least 0 lost"));
    sell(1500);
    counted.update_losses(0, 7);
    counted.end_interval(1);
    EXPECT_TRUE(has(draw(), " so far, at least 7 lost, 7/s now"));
    notes.has_uncounted_losses = false;
    EXPECT_FALSE(has(draw(), "at least"));
}

TEST_F(top_screen, fits_screens_of_any_size) {
    sell(1500);
    close(20);
    counted.end_interval(1);
    for (const auto& [columns, rows] : std::vector<std::pair<std::size_t, std::size_t>>{
             {80, 24}, {140, 40}, {40, 5}, {20, 3}, {1, 1}, {1000, 300}}) {
        expect_to_fit(draw(columns, rows), style_of(columns, rows));
    }
    press(key::enter);
    sell(3);
    for (const auto& [columns, rows] : std::vector<std::pair<std::size_t, std::size_t>>{
             {80, 24}, {140, 40}, {40, 5}, {20, 3}, {1, 1}, {1000, 300}}) {
        expect_to_fit(draw(columns, rows), style_of(columns, rows));
    }
}

TEST_F(top_screen, uses_wide_screen) {
    sell(100);
    counted.end_interval(1);
    EXPECT_FALSE(has(draw(80, 24), "BYTES/S"));
    EXPECT_TRUE(has(draw(140, 40), "BYTES/S"));
    EXPECT_EQ(draw(140, 40).lines.size(), 40U);
}

TEST_F(top_screen, escapes_hostile_names) {
    for (std::uint16_t id = 1; id < 4; ++id) {
        counted.add(hostile_provider(
            id == 1 ? "\x1b[31m\u4e2d\u6587" : std::string(500, static_cast<char>(id)), id));
        counted.take(record_of(id));
    }
    counted.end_interval(1);
    notes.listening = "\x1b[2J" + std::string(200, '*');
    const elog::top_frame frame = draw();
    expect_to_fit(frame, style_of(80, 24));
    EXPECT_TRUE(has(frame, "\\x1b[31m\u4e2d\u6587"));
    EXPECT_TRUE(has(frame, "…"));
    press(key::left);  // by name: the hostile providers sort last
    press(key::home);
    press(key::enter);
    ASSERT_TRUE(view.opened());
    EXPECT_NE(view.opened()->provider, "trade");
    expect_to_fit(draw(), style_of(80, 24));
}

TEST_F(top_screen, has_no_colours_by_default) {
    close(1);
    EXPECT_EQ(joined(draw()).find('\x1b'), std::string::npos);
    elog::frame_style style = style_of(80, 24);
    style.has_colours = true;
    EXPECT_TRUE(has(elog::draw_top(counted, view, notes, style), "\x1b[1;31m"));
}

TEST_F(top_screen, uses_ascii_without_utf_8) {
    sell(10);
    counted.end_interval(1);
    press(key::enter);
    sell(10);
    const elog::frame_style style{80, 24, false, false};
    const std::string all = joined(elog::draw_top(counted, view, notes, style));
    EXPECT_TRUE(std::none_of(all.begin(), all.end(), [](char c) {
        return static_cast<unsigned char>(c) >= 0x80;
    })) << all;
    EXPECT_NE(all.find('#'), std::string::npos);
}

TEST_F(top_screen, sorts_by_selected_column) {
    sell(5);
    close(50);
    counted.end_interval(1);
    sell(10);
    counted.end_interval(1);
    const auto first_event = [&] { return view.rows_of(counted)[1].event->name; };
    EXPECT_EQ(first_event(), "sold") << "by rate";
    press(key::right);
    EXPECT_EQ(first_event(), "closed") << "by total";
    press(key::left);
    press(key::left);
    press(key::left);
    EXPECT_EQ(first_event(), "closed") << "by name";
    EXPECT_EQ(view.order(), elog::top_order::name);
}

TEST_F(top_screen, selection_follows_event_on_reorder) {
    sell(5);
    counted.end_interval(1);
    static_cast<void>(draw());
    press(key::down);
    close(50);
    counted.end_interval(1);
    const std::vector<elog::top_row> rows = view.rows_of(counted);
    EXPECT_EQ(rows[1].event->name, "closed");
    EXPECT_EQ(view.chosen_row(rows), 2U);
    EXPECT_TRUE(draw().lines[5].text().starts_with(">   sold"));
}

TEST_F(top_screen, selection_stays_on_screen) {
    for (std::uint16_t id = 1; id < 60; ++id) {
        elog::provider_instance provider;
        provider.id = id;
        provider.schema.name = "p" + std::to_string(100 + id);
        counted.add(provider);
    }
    static_cast<void>(draw());
    press(key::left);  // by name
    for (int i = 0; i < 70; ++i) {
        press(key::down);
        EXPECT_TRUE(has(draw(), "\n> ")) << i;
    }
    EXPECT_TRUE(has(draw(), "\n> trade"));
    press(key::page_up);
    EXPECT_TRUE(has(draw(), "\n> p140")) << joined(draw());
    press(key::home);
    EXPECT_TRUE(draw().lines[3].text().starts_with("> p101"));
    press(key::end);
    EXPECT_TRUE(has(draw(), "\n> trade"));
}

TEST_F(top_screen, shows_values_of_opened_event) {
    sell(1);
    counted.end_interval(1);
    static_cast<void>(draw());
    press(key::enter);
    ASSERT_TRUE(view.opened());
    EXPECT_TRUE(has(draw(), "This event has not occurred since you opened it."));
    sell(2, "ann");
    sell(6, "bob");
    counted.end_interval(1);
    const elog::top_frame frame = draw();
    EXPECT_TRUE(frame.lines[0].text().starts_with("trade:sold  info"));
    EXPECT_TRUE(has(frame, "items     u32   min 2  avg 5  max 6")) << joined(frame);
    EXPECT_TRUE(has(frame, "customer  text   75.0% ███████▌   \"bob\"")) << joined(frame);
    EXPECT_TRUE(has(frame, "                 25.0% ██▌        \"ann\"")) << joined(frame);
    press(key::escape);
    EXPECT_FALSE(view.opened());
}

TEST_F(top_screen, sums_values_that_do_not_fit) {
    sell(1);
    static_cast<void>(draw());
    press(key::enter);
    for (int i = 0; i < 100; ++i) {
        sell(1, std::to_string(i).c_str());
    }
    EXPECT_TRUE(has(draw(), " others")) << joined(draw());
    EXPECT_TRUE(has(draw(), "\"0\""));
}

TEST_F(top_screen, limits_scrolling_to_last_value) {
    sell(1);
    static_cast<void>(draw());
    press(key::enter);
    for (int i = 0; i < 100; ++i) {
        sell(1, std::to_string(i).c_str());
    }
    static_cast<void>(draw(80, 8));
    for (int i = 0; i < 50; ++i) {
        press(key::down);
        static_cast<void>(draw(80, 8));
    }
    EXPECT_EQ(view.scrolled(), page.scroll_max);
    EXPECT_GT(page.scroll_max, 0U);
    press(key::home);
    EXPECT_EQ(view.scrolled(), 0U);
}

TEST_F(top_screen, shows_frozen_state) {
    EXPECT_FALSE(has(draw(), "frozen"));
    press(key::space);
    EXPECT_TRUE(has(draw(), "frozen"));
    EXPECT_TRUE(has(draw(), "space go on"));
    press(key::space);
    EXPECT_FALSE(view.is_frozen());
    EXPECT_FALSE(view.is_over());
    press(key::quit);
    EXPECT_TRUE(view.is_over());
}

TEST_F(top_screen, shows_paused_state) {
    EXPECT_TRUE(has(draw(), "p pause"));
    press(key::pause);
    EXPECT_TRUE(view.is_paused());
    EXPECT_FALSE(view.is_frozen());
    EXPECT_TRUE(has(draw(), "paused"));
    EXPECT_TRUE(has(draw(), "p resume"));
    view.set_paused(false);
    EXPECT_FALSE(has(draw(), "paused"));
}

TEST_F(top_screen, shows_a_complaint_in_place_of_the_keys) {
    notes.complaint = "It cannot be paused.";
    EXPECT_TRUE(has(draw(), "It cannot be paused."));
    EXPECT_FALSE(has(draw(), "q quit"));
}

TEST(short_number, has_at_most_four_characters_and_a_unit) {
    const std::vector<std::pair<double, const char*>> cases{
        {0, "0"},          {0.25, "0.25"}, {1, "1"},        {1.5, "1.5"},   {12.5, "12.5"},
        {99.96, "100"},    {999, "999"},   {999.6, "1.0k"}, {1234, "1.2k"}, {45'000, "45.0k"},
        {999'600, "1.0M"}, {1e7, "10.0M"}, {-1500, "-1.5k"}};
    for (const auto& [number, shown] : cases) {
        EXPECT_EQ(elog::short_number(number), shown);
    }
}

TEST(sparkline, scales_to_maximum_and_shows_nonzero_values) {
    const std::vector<double> values{0, 1, 400, 800};
    EXPECT_EQ(elog::sparkline(values, 6, style_of(80, 24)), "   ▁▄█");
    EXPECT_EQ(elog::sparkline(values, 2, style_of(80, 24)), "▄█");
    EXPECT_EQ(elog::sparkline(values, 4, style_of(80, 24), 2, 1), "   █");
    EXPECT_EQ(elog::sparkline(values, 4, style_of(80, 24), 2, 0), " ▁██");
    EXPECT_EQ(elog::sparkline({}, 3, style_of(80, 24)), "   ");
}

TEST(bar, length_is_proportional) {
    EXPECT_EQ(elog::bar(0.5, 4, style_of(80, 24)), "██  ");
    EXPECT_EQ(elog::bar(1, 4, style_of(80, 24)), "████");
    EXPECT_EQ(elog::bar(0.3, 4, style_of(80, 24)), "█▎  ");
    EXPECT_EQ(elog::bar(0.5, 4, {80, 24, false, false}), "##  ");
}

TEST(frame_line, truncates_before_wide_character_that_does_not_fit) {
    elog::frame_line line(style_of(6, 1));
    line.add("ab\u4e2d\u6587");
    EXPECT_EQ(line.text(), "ab\u4e2d\u6587");
    elog::frame_line narrow(style_of(5, 1));
    narrow.add("ab\u4e2d\u6587");
    EXPECT_EQ(narrow.text(), "ab\u4e2d…");
    elog::frame_line narrower(style_of(4, 1));
    narrower.add("ab\u4e2d\u6587");
    EXPECT_EQ(narrower.text(), "ab…");
    narrower.add("nothing fits");
    EXPECT_LE(narrower.columns(), 4U);
}

}  // namespace
