// SPDX-License-Identifier: MIT
//
// Recordings of elog, perf and trace-cmd on one timeline.
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/user_error.hpp"
#include "file/file_reader.hpp"
#include "import/file_merge.hpp"
#include "perf_data_builder.hpp"
#include "record/ring_records.hpp"
#include "recording_sample.hpp"
#include "scratch.hpp"
#include "trace_dat_builder.hpp"

namespace {

namespace test = eventlog::test;

constexpr int item = 700;
constexpr std::uint64_t second = 1'000'000'000;
constexpr std::uint64_t ticks_per_nanosecond = 2;
// As in perf_data_builder.
constexpr std::uint64_t start_of_machine = (2'000'000'000 - 1000) * second;
constexpr std::uint32_t rings = 5;

std::string path_of(const char* name) {
    return test::scratch_directory() + "/" + name;
}

std::vector<test::system_format> formats() {
    return {{"user_events", test::item_format("eventlog_shop_item", item)}};
}

/// Marks 1 to 4 in the shared ring, at 1001 s to 1004 s, on a clock at twice the rate.
std::string write_elog(std::uint32_t ring = rings - 1, std::uint32_t lost = 0) {
    elog::recording_host host;
    host.clock = EVENTLOG_CLOCK_TSC;
    host.ring_count = rings;
    host.host_name = "guest";
    host.kernel = "6.12.0-test";
    host.machine = "x86_64";
    host.recording = 77;
    elog::file_writer writer(path_of("one.elog"), host);
    const auto write_clock = [&](std::uint64_t time) {
        writer.write_clock({time * ticks_per_nanosecond, time, start_of_machine + time});
    };
    write_clock(1000 * second);
    writer.write_provider(test::mark_provider());
    test::bytes records = test::make_records(1, 4);
    std::uint64_t number = 0;
    records = elog::map_times(elog::run_reader(records), [&](std::uint64_t) {
        return (1000 + ++number) * second * ticks_per_nanosecond;
    });
    writer.write_run({ring, 0, 0, number, records});
    if (lost != 0) {
        writer.write_loss(elog::trailing_loss(ring, lost, 0, 0));
    }
    write_clock(1005 * second);
    writer.write_end();
    return path_of("one.elog");
}

/// Writes an item at each of these half seconds after 1000 s; the half second is its number.
std::string write_perf(const std::vector<std::uint64_t>& halves,
                       const test::perf_data_options& options = {}) {
    test::perf_data_builder maker(formats(), options);
    for (const std::uint64_t half : halves) {
        maker.sample(1, 1, 1000 * second + half * second / 2, 0,
                     test::item_record(item, 1, half, "x"));
    }
    test::replace(path_of("perf.data"), maker.file());
    return path_of("perf.data");
}

struct merged {
    std::vector<std::int64_t> seconds;  // half seconds after 1000 s on CLOCK_MONOTONIC
    std::vector<std::string> providers;
    std::uint64_t lost = 0;
    std::uint32_t ring_count = 0;
};

merged merge(const std::vector<std::string>& paths) {
    const elog::merge_summary summary = elog::merge_files(paths, {path_of("merged.elog")});
    EXPECT_EQ(summary.damaged.size(), 0U);
    merged found;
    elog::file_reader file(path_of("merged.elog"));
    constexpr std::int64_t half = second / 2;
    file.read([&](const elog::merged_record& record) {
        const elog::record_view& decoded = record.record;
        const std::int64_t time = file.clock().monotonic(decoded.time);
        found.seconds.push_back((time - static_cast<std::int64_t>(1000 * second)) / half);
        EXPECT_EQ(file.clock().realtime(decoded.time),
                  time + static_cast<std::int64_t>(start_of_machine));
        found.providers.push_back(file.providers().at(decoded.provider).schema.name);
    });
    EXPECT_EQ(file.damages(), std::vector<std::string>());
    found.lost = summary.copied.lost;
    found.ring_count = file.host().ring_count;
    return found;
}

std::string rejection_of(const std::vector<std::string>& paths) {
    try {
        static_cast<void>(merge(paths));
    } catch (const elog::user_error& refused) {
        return refused.what();
    }
    return "they were merged";
}

using times = std::vector<std::int64_t>;

TEST(foreign_merge, orders_perf_and_elog_records) {
    const merged found = merge({write_perf({1, 3, 7, 9}), write_elog()});
    EXPECT_EQ(found.seconds, (times{1, 2, 3, 4, 6, 7, 8, 9}));
    EXPECT_EQ(found.providers[0], "shop");
    EXPECT_EQ(found.providers[1], test::mark_provider().schema.name);
    EXPECT_EQ(found.ring_count, rings);
}

TEST(foreign_merge, uses_wall_clock_of_sources_that_have_it) {
    test::trace_dat_builder maker(formats());
    maker.page(1);
    maker.event(1, 1000 * second + 5 * second / 2, test::item_record(item, 1, 5, "x"));
    test::replace(path_of("trace.dat"), maker.file());
    const merged found = merge({path_of("trace.dat"), write_elog()});
    EXPECT_EQ(found.seconds, (times{2, 4, 5, 6, 8}));
}

TEST(foreign_merge, aligns_by_wall_clock_for_different_clocks) {
    // The wall clock: 1000 s after 1970 lies long before the machine's start.
    test::perf_data_builder maker(formats(), {.clock = 0, .has_realtime_reference = false});
    maker.sample(1, 1, start_of_machine + 1000 * second + 3 * second / 2, 0,
                 test::item_record(item, 1, 3, "x"));
    test::replace(path_of("perf.data"), maker.file());
    EXPECT_EQ(merge({path_of("perf.data"), write_elog()}).seconds, (times{2, 3, 4, 6, 8}));
}

TEST(foreign_merge, rejects_unknown_clocks) {
    const std::string rejection =
        rejection_of({write_perf({1}, {.clock = std::nullopt}), write_elog()});
    EXPECT_NE(rejection.find("perf's own clock"), std::string::npos) << rejection;
    EXPECT_NE(rejection.find("-k mono"), std::string::npos) << rejection;
}

TEST(foreign_merge, reads_live_schemas_only_when_needed) {
    int asked = 0;
    const auto published = [&] {
        ++asked;
        return std::vector<elog::provider_schema>();
    };
    static_cast<void>(elog::merge_files({write_elog()}, {path_of("merged.elog")}, published));
    EXPECT_EQ(asked, 0);
    static_cast<void>(
        elog::merge_files({write_elog(), write_perf({1})}, {path_of("merged.elog")}, published));
    EXPECT_EQ(asked, 1);
}

TEST(foreign_merge, rejects_clock_centuries_off) {
    constexpr std::int64_t long_ago = -9'200'000'000'000'000;  // microseconds
    test::trace_dat_builder maker(
        formats(), {.clock = "local", .realtime = static_cast<std::uint64_t>(long_ago)});
    maker.page(1);
    maker.event(1, 1000, test::item_record(item, 1, 5, "x"));
    test::replace(path_of("trace.dat"), maker.file());
    const std::string rejection = rejection_of({path_of("trace.dat"), write_elog()});
    EXPECT_NE(rejection.find("centuries"), std::string::npos) << rejection;
}

TEST(foreign_merge, keeps_losses_of_both_sources) {
    test::perf_data_builder maker(formats());
    maker.lost(5, 1000 * second, 0);
    maker.sample(1, 1, 1001 * second, 0, test::item_record(item, 1, 2, "x"));
    test::replace(path_of("perf.data"), maker.file());
    EXPECT_EQ(merge({path_of("perf.data"), write_elog(rings - 1, 3)}).lost, 8U);
}

}  // namespace
