// SPDX-License-Identifier: MIT
//
// The addresses of libelog's sources, and options that do not apply to them.
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <elog/elog.hpp>
#include <eventlog/eventlog.hpp>

#include "kernel_trace_sample.hpp"
#include "perf_data_builder.hpp"
#include "recording_sample.hpp"
#include "scratch.hpp"
#include "trace_dat_builder.hpp"

namespace {

namespace test = eventlog::test;

constexpr int item = 700;

struct beat {
    std::uint32_t number;
};

struct other_beat {
    std::uint32_t number;
};

using heart = eventlog::provider<"library_open", beat, other_beat>;

std::vector<test::system_format> formats() {
    return {{"user_events", test::item_format("eventlog_shop_item", item)}};
}

test::bytes record_of(std::uint64_t number) {
    return test::item_record(item, 42, number, "word");
}

std::string path_of(const char* name) {
    return test::scratch_directory() + "/open." + name;
}

std::string make_trace_dat() {
    test::trace_dat_builder maker(formats());
    maker.name(42, "shop");
    maker.page(0);
    maker.event(0, 1000, record_of(1));
    maker.page(1, 5);
    maker.event(1, 2000, record_of(2));
    std::string path = path_of("trace.dat");
    test::replace(path, maker.file());
    return path;
}

std::string make_perf_data() {
    test::perf_data_builder maker(formats());
    maker.name(41, 41, "shop", 0, false);
    maker.sample(41, 42, 1000, 1, record_of(1));
    maker.sample(41, 42, 2000, 1, record_of(2));
    std::string path = path_of("perf.data");
    test::replace(path, maker.file());
    return path;
}

std::vector<std::uint64_t> numbers_of(elog::source& source) {
    std::vector<std::uint64_t> numbers;
    for (const elog::record& record : source) {
        numbers.push_back(record["number"].as<std::uint64_t>().value_or(0));
    }
    return numbers;
}

using numbers = std::vector<std::uint64_t>;

std::string rejection_of(const std::string& address, elog::open_options options) {
    try {
        const elog::source source = elog::open(address, std::move(options));
    } catch (const elog::error& error) {
        return error.what();
    }
    return "";
}

TEST(library_open, reads_recording_of_trace_cmd) {
    elog::source source = elog::open(make_trace_dat());
    const std::optional<elog::record> first = source.get();
    ASSERT_TRUE(first.has_value());
    EXPECT_EQ(first->process(), "shop");
    EXPECT_EQ(first->thread(), 42U);
    EXPECT_EQ((*first)["number"].as<std::uint64_t>(), 1U);
    EXPECT_EQ((*first)["word"].as<std::string_view>(), "word");
    EXPECT_EQ(numbers_of(source), numbers{2});
    EXPECT_EQ(source.totals().lost, 5U);
    // The recording does not state the time of day.
    ASSERT_EQ(source.complaints().size(), 1U);
    EXPECT_NE(source.complaints()[0].find("--date"), std::string::npos) << source.complaints()[0];
}

TEST(library_open, reads_recording_of_perf) {
    elog::source source = elog::open(make_perf_data());
    EXPECT_EQ(numbers_of(source), (numbers{1, 2}));
    EXPECT_TRUE(source.is_over());
    EXPECT_EQ(source.complaints(), std::vector<std::string>());
}

TEST(library_open, selects_records_of_imports) {
    elog::source source = elog::open(make_perf_data(), {.where = "number > 1"});
    EXPECT_EQ(numbers_of(source), numbers{2});
    EXPECT_NE(rejection_of(make_perf_data(), {.where = "nummer > 1"}), "");
}

TEST(library_open, reports_damage_of_import) {
    test::trace_dat_builder maker(formats());
    maker.page(0);
    maker.event(0, 1000, record_of(1));
    maker.event(0, 2000, test::item_record(item + 1, 42, 2, "word"));  // of an unknown event
    const std::string path = path_of("damaged.dat");
    test::replace(path, maker.file());
    elog::source source = elog::open(path);
    EXPECT_EQ(numbers_of(source), numbers{1});
    bool is_reported = false;
    for (const std::string& complaint : source.complaints()) {
        is_reported = is_reported || (complaint.starts_with(path) &&
                                      complaint.find("1 records are of") != std::string::npos);
    }
    EXPECT_TRUE(is_reported);
}

TEST(library_open, merges_recordings_of_all_kinds) {
    std::vector<elog::source> parts;
    parts.push_back(elog::open(make_perf_data()));
    parts.push_back(elog::open(make_trace_dat()));
    elog::source merged = elog::merge(std::move(parts));
    EXPECT_EQ(numbers_of(merged).size(), 4U);
}

TEST(library_open, adds_pattern_of_address_to_those_of_options) {
    elog::source source =
        elog::open("memory:library_open:beat", {.events = {"library_open:other_*"}});
    heart::emit(beat{1});
    heart::emit(other_beat{2});
    source.stop();
    EXPECT_EQ(numbers_of(source), (numbers{1, 2}));
}

TEST(library_open, finds_file_with_colon_by_its_folder) {
    const std::string path = path_of("perf.data");
    const std::string odd = test::scratch_directory() + "/memory:x";
    static_cast<void>(make_perf_data());
    ASSERT_EQ(::link(path.c_str(), odd.c_str()), 0);
    elog::source source = elog::open(odd);
    EXPECT_EQ(numbers_of(source), (numbers{1, 2}));
}

TEST(library_open, rejects_options_of_other_sources) {
    const std::string path = make_perf_data();
    for (const elog::open_options& options :
         {elog::open_options{.events = {"shop:*"}}, elog::open_options{.sessions = {1}},
          elog::open_options{.pids = {1}}, elog::open_options{.process_names = {"shop"}},
          elog::open_options{.max_rate = 1}}) {
        const std::string rejection = rejection_of(path, options);
        EXPECT_NE(rejection.find(path), std::string::npos) << rejection;
        EXPECT_NE(rejection.find("where"), std::string::npos) << rejection;
    }
    for (const elog::open_options& options : {elog::open_options{.from = elog::timestamp()},
                                              elog::open_options{.to = elog::timestamp()}}) {
        const std::string rejection = rejection_of("memory:library_open", options);
        EXPECT_NE(rejection.find("from and to"), std::string::npos) << rejection;
    }
    EXPECT_NE(rejection_of("memory:", {}).find("Name events"), std::string::npos);
    for (const char* const address : {"tracefs:shop:*#", "perf:shop:*#"}) {
        const std::string rejection = rejection_of(address, {.sessions = {1}});
        EXPECT_NE(rejection.find("no sessions"), std::string::npos) << rejection;
    }
    EXPECT_NE(rejection_of(path_of("not.there"), {}).find("not.there"), std::string::npos);
}

}  // namespace
