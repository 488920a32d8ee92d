// SPDX-License-Identifier: MIT
//
// trace.dat, whole, cut off or made by an enemy, read as a recording of ours.
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "found_recording.hpp"
#include "trace_dat_maker.hpp"

namespace {

using eventlog::test::find_in_file;
using eventlog::test::found_recording;
using eventlog::test::refusal_of;
using eventlog::test::trace_dat_maker;
using bytes = std::vector<std::uint8_t>;
using numbers = std::vector<std::uint64_t>;

constexpr int item = 700;

std::vector<eventlog::test::system_format> formats() {
    return {{"user_events", eventlog::test::format_of_item("eventlog_shop_item", item)}};
}

bytes record_of(std::uint64_t number, std::string_view word = "word") {
    return eventlog::test::record_of_item(item, 42, number, word);
}

/// Three events on two CPUs, in two pages of one of them.
trace_dat_maker small(const eventlog::test::trace_dat_options& options) {
    trace_dat_maker maker(formats(), options);
    maker.name(42, "shop");
    maker.page(0);
    maker.event(0, 1000, record_of(1, "apple"));
    maker.page(1);
    maker.event(1, 2000, record_of(2));
    maker.page(0);
    maker.event(0, 3000, record_of(3));
    return maker;
}

TEST(trace_dat, is_read_in_every_form_that_trace_cmd_writes) {
    for (const eventlog::test::trace_dat_options& options :
         {eventlog::test::trace_dat_options{.version = 6},
          eventlog::test::trace_dat_options{.compressed = false},
          eventlog::test::trace_dat_options{}}) {
        const found_recording found = find_in_file(small(options).file());
        EXPECT_EQ(found.numbers(), (numbers{1, 2, 3})) << options.version << options.compressed;
        EXPECT_EQ(found.damages, std::vector<std::string>());
        ASSERT_FALSE(found.records.empty());
        EXPECT_EQ(found.records[0].word, "apple");
        EXPECT_EQ(found.records[0].process, "shop");
        EXPECT_EQ(found.records[0].thread, 42U);
        EXPECT_EQ(found.records[1].cpu, 1U);
        EXPECT_EQ(found.records[2].time, 3000);
    }
}

TEST(trace_dat, shows_losses_at_their_place_and_the_rest_at_the_end) {
    trace_dat_maker maker(formats());
    maker.page(1);
    maker.event(1, 1000, record_of(1));
    maker.page(1, 5);
    maker.event(1, 2000, record_of(2));
    maker.counted(0, 0);
    maker.counted(1, 7);
    const found_recording found = find_in_file(maker.file());
    ASSERT_EQ(found.records.size(), 2U);
    EXPECT_EQ(found.records[0].lost, 0U);
    EXPECT_EQ(found.records[1].lost, 5U);
    ASSERT_EQ(found.losses.size(), 1U);
    EXPECT_EQ(found.losses[0].index, 1U);
    EXPECT_EQ(found.losses[0].full, 2U);
}

TEST(trace_dat, says_by_which_clock_it_is) {
    using kind = elog::recorded_clock::kind;
    const found_recording plain = find_in_file(small({}).file());
    EXPECT_EQ(plain.clock.is, kind::monotonic);
    ASSERT_EQ(plain.notes.size(), 1U);
    EXPECT_NE(plain.notes[0].find("--date"), std::string::npos);
    const found_recording dated = find_in_file(small({.realtime = 1'000'000}).file());
    EXPECT_EQ(dated.records.at(0).time, 1'000'001'000);
    EXPECT_EQ(dated.notes.size(), 0U);
    const found_recording local = find_in_file(small({.clock = "local"}).file());
    EXPECT_EQ(local.clock.is, kind::other);
    EXPECT_NE(local.notes.at(0).find("the kernel's clock local"), std::string::npos);
}

TEST(trace_dat, says_what_it_cannot_read) {
    constexpr std::size_t behind_version = 12;
    bytes file = small({}).file();
    file[behind_version] = 1;
    EXPECT_NE(refusal_of(file).find("big-endian"), std::string::npos);
    file = small({}).file();
    file[behind_version + 1] = 4;
    EXPECT_NE(refusal_of(file).find("words of 4 bytes"), std::string::npos);
    file = small({}).file();
    file[behind_version - 2] = '8';
    EXPECT_NE(refusal_of(file).find("version 8"), std::string::npos);
    file = small({}).file();
    std::memcpy(file.data() + behind_version + 6, "zlib", 4);
    EXPECT_NE(refusal_of(file).find("trace-cmd convert"), std::string::npos);
}

TEST(trace_dat, of_pages_that_are_missing_shows_the_others) {
    // The last page is that of CPU 1.
    const bytes whole = small({.version = 6}).file();
    const bytes cut(whole.begin(), whole.end() - trace_dat_maker::page_size);
    const found_recording found = find_in_file(cut);
    EXPECT_EQ(found.numbers(), (numbers{1, 3}));
    ASSERT_EQ(found.damages.size(), 1U);
    EXPECT_NE(found.damages[0].find("CPU 1"), std::string::npos);
}

TEST(trace_dat, of_a_page_that_makes_no_sense_shows_the_others) {
    bytes file = small({.version = 6}).file();
    // How much of the first page of CPU 0 is filled.
    const std::size_t page = file.size() - 3 * std::size_t{trace_dat_maker::page_size};
    std::memset(file.data() + page + 8, 0x7f, 2);
    const found_recording found = find_in_file(file);
    EXPECT_EQ(found.numbers(), (numbers{2, 3}));
    EXPECT_EQ(found.damages.size(), 1U);
}

TEST(trace_dat, cut_anywhere_is_refused_or_told_of) {
    const bytes whole = small({}).file();
    for (std::size_t size = 10; size < whole.size(); ++size) {
        const bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
        EXPECT_NE(refusal_of(cut), "it was read") << size;
    }
}

TEST(trace_dat, survives_any_byte_that_is_changed) {
    for (const bool compressed : {false, true}) {
        const bytes whole = small({.version = compressed ? 7 : 6}).file();
        std::size_t read = 0;
        for (std::size_t at = 0; at < whole.size(); at += whole[at] == 0 ? 64 : 5) {
            bytes file = whole;
            file[at] = static_cast<std::uint8_t>(at % 3 == 0 ? 0xff : file[at] ^ 1U);
            read += eventlog::test::can_be_read(file) ? 1U : 0U;
        }
        EXPECT_GT(read, 10U);
    }
}

TEST(trace_dat, ends_where_its_options_lead_back_to_themselves) {
    bytes file = small({.compressed = false}).file();
    // The first options are the last section: what leads on from there is in front of its end.
    std::uint64_t first = 0;
    constexpr std::size_t place = 10 + 2 + 2 + 4 + 5 + 4;
    std::memcpy(&first, file.data() + place, sizeof first);
    std::memcpy(file.data() + file.size() - sizeof first, &first, sizeof first);
    EXPECT_NE(refusal_of(file).find("never end"), std::string::npos);
}

}  // namespace
