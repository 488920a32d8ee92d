// SPDX-License-Identifier: MIT
//
// perf.data, complete, truncated or hostile, imported as a recording.
#include <linux/perf_event.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "file/file_reader.hpp"
#include "import/input_recording.hpp"
#include "imported_recording.hpp"
#include "perf_data_builder.hpp"
#include "recording_sample.hpp"
#include "schema/schema_binary.hpp"
#include "scratch.hpp"

namespace {

using eventlog::test::bytes;
using eventlog::test::import_bytes;
using eventlog::test::imported_recording;
using eventlog::test::perf_data_builder;
using eventlog::test::rejection_of;

constexpr int item = 700;
constexpr std::uint64_t second = 1'000'000'000;

std::string path_of_file() {
    return eventlog::test::scratch_directory() + "/perf.data";
}

std::vector<eventlog::test::system_format> formats() {
    return {{"user_events", eventlog::test::item_format("eventlog_shop_item", item)}};
}

bytes record_of(std::uint64_t number, std::string_view word = "word") {
    return eventlog::test::item_record(item, 42, number, word);
}

using numbers = std::vector<std::uint64_t>;

TEST(perf_data, imports_tracepoint_with_fields_process_and_time) {
    perf_data_builder maker(formats());
    maker.name(41, 41, "shop", 0, false);
    maker.sample(41, 42, 1001 * second, 1, record_of(7, "apple"));
    const imported_recording found = import_bytes(maker.file());
    ASSERT_EQ(found.records.size(), 1U);
    const eventlog::test::imported_record& only = found.records[0];
    EXPECT_EQ(only.number, 7U);
    EXPECT_EQ(only.word, "apple");
    EXPECT_EQ(only.process, "shop");
    EXPECT_EQ(only.pid, 41U);
    EXPECT_EQ(only.thread, 42U);
    EXPECT_EQ(only.cpu, 1U);
    EXPECT_EQ(only.time, static_cast<std::int64_t>(2'000'000'001 * second));
    EXPECT_EQ(found.damages, std::vector<std::string>());
}

TEST(perf_data, orders_by_time_across_rounds_and_cpus) {
    perf_data_builder maker(formats());
    for (const std::uint64_t time : {3U, 5U}) {
        maker.sample(1, 1, time, 0, record_of(time));
    }
    for (const std::uint64_t time : {2U, 4U}) {
        maker.sample(1, 1, time, 1, record_of(time));
    }
    maker.round();
    maker.sample(1, 1, 7, 0, record_of(7));
    for (const std::uint64_t time : {6U, 8U}) {
        maker.sample(1, 1, time, 1, record_of(time));
    }
    maker.round();
    // An interrupt's event is written before the event that it interrupted.
    maker.sample(1, 1, 10, 0, record_of(10));
    maker.sample(1, 1, 9, 0, record_of(9));
    EXPECT_EQ(import_bytes(maker.file()).numbers(), (numbers{2, 3, 4, 5, 6, 7, 8, 9, 10}));
}

TEST(perf_data, uses_process_name_at_event_time) {
    perf_data_builder maker(formats());
    maker.name(5, 5, "sh", 0, false);
    maker.sample(6, 6, 30, 0, record_of(1));
    maker.sample(6, 6, 50, 0, record_of(2));
    // In another buffer, which perf writes later.
    maker.fork(5, 6, 20);
    maker.name(6, 6, "shop", 40, true);
    maker.name(6, 7, "worker", 41, false);
    maker.round();
    const imported_recording found = import_bytes(maker.file());
    ASSERT_EQ(found.records.size(), 2U);
    EXPECT_EQ(found.records[0].process, "sh");
    EXPECT_EQ(found.records[1].process, "shop");
}

TEST(perf_data, reports_losses_in_place_and_remainder_at_end) {
    perf_data_builder maker(formats());
    maker.index();
    maker.sample(1, 1, 10, 0, record_of(1));
    maker.lost(5, 20, 0);
    maker.sample(1, 1, 30, 0, record_of(2));
    maker.sample(1, 1, 40, 1, record_of(3));
    maker.lost_in_all(7, 0);
    maker.lost_in_all(4, 1);
    const imported_recording found = import_bytes(maker.file());
    ASSERT_EQ(found.records.size(), 3U);
    EXPECT_EQ(found.records[0].lost, 0U);
    EXPECT_EQ(found.records[1].lost, 5U);
    EXPECT_EQ(found.records[2].lost, 0U);
    ASSERT_EQ(found.losses.size(), 2U);
    EXPECT_EQ(found.losses[0].index, 0U);
    EXPECT_EQ(found.losses[0].full, 2U);
    EXPECT_EQ(found.losses[1].index, 1U);
    EXPECT_EQ(found.losses[1].full, 4U);
}

TEST(perf_data, leaves_out_impossible_counts_of_losses) {
    perf_data_builder maker(formats());
    maker.index();
    maker.lost(std::uint64_t{1} << 62U, 5, 0);
    maker.sample(1, 1, 10, 0, record_of(1));
    maker.lost(UINT64_MAX, 20, 0);
    maker.lost(5, 20, 0);
    maker.sample(1, 1, 30, 0, record_of(2));
    const imported_recording found = import_bytes(maker.file());
    ASSERT_EQ(found.records.size(), 2U);
    EXPECT_EQ(found.records[0].lost, 0U);
    EXPECT_EQ(found.records[1].lost, 5U);
    ASSERT_EQ(found.damages.size(), 1U);
    EXPECT_EQ(found.damages[0], "2 of its counts of lost events are impossible, and are left out");
}

TEST(perf_data, counts_loss_of_unknown_cpu_once) {
    perf_data_builder maker(formats());
    maker.lost(5, 20, 0);
    maker.sample(1, 1, 30, 0, record_of(2));
    maker.lost_in_all(6, 0);
    const imported_recording found = import_bytes(maker.file());
    ASSERT_EQ(found.losses.size(), 1U);
    EXPECT_EQ(found.losses[0].index, perf_data_builder::cpus);
    EXPECT_EQ(found.losses[0].full, 1U);
}

TEST(perf_data, decompresses_chunks_split_anywhere) {
    for (const std::size_t piece : {7U, 100U, 10000U}) {
        perf_data_builder maker(formats());
        maker.compress(piece);
        for (std::uint64_t number = 1; number <= 50; ++number) {
            maker.sample(1, 1, number, 0, record_of(number, "a word that comes again"));
        }
        const imported_recording found = import_bytes(maker.file());
        EXPECT_EQ(found.records.size(), 50U) << piece;
        EXPECT_EQ(found.damages, std::vector<std::string>()) << piece;
    }
}

TEST(perf_data, limits_decompression_memory) {
    perf_data_builder maker(formats(), {.content_max = 4096});
    maker.sample(1, 1, 1, 0, record_of(1));
    maker.compress(10000);
    const bytes zeros(9000);
    maker.record(100, 0, zeros);
    const imported_recording found = import_bytes(maker.file());
    EXPECT_EQ(found.records.size(), 1U);
    ASSERT_EQ(found.damages.size(), 1U);
    EXPECT_NE(found.damages[0].find("cannot be decompressed"), std::string::npos);
}

TEST(perf_data, limits_compression_ratio) {
    perf_data_builder maker(formats());
    maker.sample(1, 1, 1, 0, record_of(1));
    maker.compress(60'000);
    const bytes zeros(59'992);
    for (int pieces = 0; pieces < 10; ++pieces) {
        maker.record(100, 0, zeros);
    }
    const imported_recording found = import_bytes(maker.file());
    EXPECT_EQ(found.records.size(), 1U);
    ASSERT_EQ(found.damages.size(), 1U);
    EXPECT_NE(found.damages[0].find("becomes more than any recording"), std::string::npos);
}

TEST(perf_data, decompresses_every_level) {
    // The window of zstd levels 20 to 22.
    for (const int window : {25, 26, 27}) {
        perf_data_builder maker(formats(), {.window_log = window});
        maker.compress(100);
        maker.sample(1, 1, 1, 0, record_of(1));
        EXPECT_EQ(import_bytes(maker.file()).numbers(), numbers{1}) << window;
    }
}

TEST(perf_data, accepts_all_sample_types_of_perf_record) {
    perf_data_builder maker(formats(),
                            {.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID |
                                            PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_READ |
                                            PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW});
    maker.sample(1, 1, 5, 0, record_of(3));
    EXPECT_EQ(import_bytes(maker.file()).numbers(), numbers{3});
}

TEST(perf_data, needs_no_sample_id_with_single_event) {
    perf_data_builder maker(formats(), {.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                                                       PERF_SAMPLE_CPU | PERF_SAMPLE_RAW});
    maker.name(1, 1, "shop", 1, false);
    maker.sample(1, 1, 5, 0, record_of(3));
    const imported_recording found = import_bytes(maker.file());
    ASSERT_EQ(found.records.size(), 1U);
    EXPECT_EQ(found.records[0].process, "shop");
}

// Sample types of perf record for equal and for different samples of the events.
const std::vector<std::uint64_t> with_numbers{
    PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_CPU |
        PERF_SAMPLE_RAW,
    PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
        PERF_SAMPLE_CPU | PERF_SAMPLE_RAW,
    PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
        PERF_SAMPLE_RAW};

TEST(perf_data, resolves_events_by_sample_id_at_any_position) {
    for (const std::uint64_t type : with_numbers) {
        perf_data_builder maker(
            formats(),
            {.sample_type = type, .event_types = {PERF_TYPE_HARDWARE, PERF_TYPE_TRACEPOINT}});
        maker.sample(1, 1, 5, 1, record_of(3), 0);
        maker.sample(1, 1, 6, 1, record_of(4), 1);
        const imported_recording found = import_bytes(maker.file());
        EXPECT_EQ(found.numbers(), numbers{4}) << type;
        ASSERT_EQ(found.notes.size(), 1U) << type;
        EXPECT_NE(found.notes[0].find("its 1 samples"), std::string::npos);
    }
}

TEST(perf_data, attributes_lost_samples_by_sample_id_at_any_position) {
    for (const std::uint64_t type : with_numbers) {
        perf_data_builder maker(formats(), {.sample_type = type});
        maker.index();
        maker.name(1, 1, "shop", 1, false);
        maker.sample(1, 1, 5, 0, record_of(3));
        maker.lost_in_all(4, 1);
        const imported_recording found = import_bytes(maker.file());
        EXPECT_EQ(found.records.at(0).process, "shop") << type;
        ASSERT_EQ(found.losses.size(), 1U) << type;
        EXPECT_EQ(found.losses[0].index, 1U) << type;
        EXPECT_EQ(found.losses[0].full, 4U) << type;
    }
}

TEST(perf_data, falls_back_to_common_type_without_sample_id) {
    perf_data_builder maker(formats());
    maker.name(42, 42, "shop", 1, false);  // as record_of names it
    maker.sample(UINT32_MAX, UINT32_MAX, 5, 0, record_of(3));
    maker.sample(0, 0, 6, 0, record_of(4));
    const imported_recording found = import_bytes(maker.file());
    ASSERT_EQ(found.records.size(), 2U);
    EXPECT_EQ(found.records[0].thread, 42U);
    EXPECT_EQ(found.records[0].pid, 42U);
    EXPECT_EQ(found.records[0].process, "shop");
    EXPECT_EQ(found.records[1].thread, 0U);
    EXPECT_EQ(found.records[1].process, "idle");
}

TEST(perf_data, skips_and_reports_other_event_types) {
    perf_data_builder maker(formats(), {.event_types = {PERF_TYPE_HARDWARE}});
    maker.sample(1, 1, 5, 0, record_of(3));
    const imported_recording found = import_bytes(maker.file());
    EXPECT_EQ(found.records.size(), 0U);
    ASSERT_EQ(found.notes.size(), 1U);
    EXPECT_NE(found.notes[0].find("its 1 samples"), std::string::npos);
}

TEST(perf_data, counts_records_of_undescribed_events) {
    perf_data_builder maker(formats());
    maker.sample(1, 1, 5, 0, record_of(3));
    maker.sample(1, 1, 6, 0, eventlog::test::item_record(item + 1, 1, 4, "x"));
    const imported_recording found = import_bytes(maker.file());
    EXPECT_EQ(found.numbers(), numbers{3});
    ASSERT_EQ(found.damages.size(), 1U);
    EXPECT_TRUE(found.damages[0].starts_with("1 records are of events"));
    ASSERT_EQ(found.losses.size(), 1U);
    EXPECT_EQ(found.losses[0].damaged, 1U);
}

TEST(perf_data, uses_published_schema) {
    elog::provider_schema schema;
    schema.name = "shop";
    elog::event_schema& event = schema.events.emplace_back();
    event.name = "item";
    event.severity = eventlog::level::error;
    event.fields.resize(2);
    event.fields[0].name = "number";
    event.fields[0].type = eventlog::field_type::unsigned_64;
    event.fields[1].name = "word";
    event.fields[1].type = eventlog::field_type::text;
    static_cast<void>(elog::assign_offsets(event));
    elog::write_binary(schema);
    perf_data_builder maker(formats());
    maker.sample(1, 1, 5, 0, record_of(3));
    eventlog::test::replace(path_of_file(), maker.file());
    const elog::input_recording recording(path_of_file(), [&] { return std::vector{schema}; });
    const elog::file_reader file(recording.path());
    EXPECT_EQ(file.providers().at(0).schema.events.at(0).severity, eventlog::level::error);
}

TEST(perf_data, reads_published_schemas_once) {
    const auto format = [](const char* name, int id) {
        return eventlog::test::system_format{"user_events", eventlog::test::item_format(name, id)};
    };
    perf_data_builder maker(
        {format("eventlog_shop_item", item), format("eventlog_shop_other", 701)});
    maker.sample(1, 1, 5, 0, record_of(3));
    maker.sample(1, 1, 6, 0, eventlog::test::item_record(701, 42, 4, "x"));
    eventlog::test::replace(path_of_file(), maker.file());
    int asked = 0;
    const elog::input_recording recording(path_of_file(), [&] {
        ++asked;
        return std::vector<elog::provider_schema>();
    });
    EXPECT_EQ(asked, 1);
}

TEST(perf_data, removes_its_temporary_files) {
    perf_data_builder maker(formats());
    maker.sample(1, 1, 5, 0, record_of(3));
    eventlog::test::replace(path_of_file(), maker.file());
    const std::string folder = eventlog::test::scratch_directory() + "/folder";
    std::filesystem::create_directory(folder);
    ::setenv("TMPDIR", folder.c_str(), 1);
    const elog::input_recording recording(path_of_file());
    ::unsetenv("TMPDIR");
    EXPECT_NE(recording.path(), recording.name());
    EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST(perf_data, reports_clock) {
    const auto clock_of = [](std::optional<int> clock, bool has_realtime_reference) {
        perf_data_builder maker(formats(),
                                {.clock = clock, .has_realtime_reference = has_realtime_reference});
        maker.sample(1, 1, 5, 0, record_of(3));
        return import_bytes(maker.file());
    };
    using kind = elog::recorded_clock::kind;
    EXPECT_EQ(clock_of(1, true).clock.is, kind::monotonic);
    EXPECT_EQ(clock_of(1, true).notes.size(), 0U);
    EXPECT_EQ(clock_of(1, false).clock.is, kind::monotonic);
    EXPECT_NE(clock_of(1, false).notes.at(0).find("their time of day is not recorded"),
              std::string::npos);
    EXPECT_EQ(clock_of(0, false).clock.is, kind::realtime);
    EXPECT_EQ(clock_of(0, false).notes.size(), 0U);
    EXPECT_EQ(clock_of(7, true).clock.is, kind::other);
    EXPECT_EQ(clock_of(7, true).notes.size(), 0U);
    const imported_recording own = clock_of(std::nullopt, true);
    EXPECT_EQ(own.records.at(0).time, 5);
    EXPECT_NE(own.notes.at(0).find("-k mono"), std::string::npos);
}

TEST(perf_data, reports_unsupported_input) {
    const bytes whole = perf_data_builder(formats()).file();
    bytes file = whole;
    std::reverse(file.begin(), file.begin() + 8);
    EXPECT_NE(rejection_of(file).find("big-endian"), std::string::npos);
    file = whole;
    file[8] = 16;
    EXPECT_NE(rejection_of(file).find("perf inject"), std::string::npos);
    perf_data_builder maker(formats());
    maker.sample(1, 1, 5, 0, record_of(3));
    file = maker.file();
    std::memset(file.data() + 48, 0, 8);  // the data size, as after perf was killed
    EXPECT_NE(rejection_of(file).find("was killed"), std::string::npos);
}

TEST(perf_data, truncated_anywhere_is_reported) {
    perf_data_builder maker(formats());
    maker.index();
    maker.name(1, 1, "shop", 1, false);
    for (std::uint64_t number = 1; number <= 3; ++number) {
        maker.sample(1, 1, number, 0, record_of(number));
    }
    const bytes whole = maker.file();
    ASSERT_EQ(import_bytes(whole).records.size(), 3U);
    for (std::size_t size = 16; size < whole.size(); ++size) {
        const bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
        EXPECT_NE(rejection_of(cut), "it was read") << size;
    }
}

TEST(perf_data, shows_records_before_damage) {
    perf_data_builder maker(formats());
    maker.sample(1, 1, 1, 0, record_of(1));
    const std::size_t before = maker.file().size();
    bytes zeros(8);
    perf_data_builder broken(formats());
    broken.sample(1, 1, 1, 0, record_of(1));
    broken.record(9, 0, zeros);
    broken.sample(1, 1, 2, 0, record_of(2));
    bytes file = broken.file();
    ASSERT_GT(file.size(), before);
    // The size of the second record becomes 0, which is invalid.
    constexpr std::size_t data = 104 + 16 + sizeof(perf_event_attr) + 16;
    std::uint16_t first = 0;
    std::memcpy(&first, file.data() + data + 6, sizeof first);
    std::memset(file.data() + data + first + 6, 0, 2);
    const imported_recording found = import_bytes(file);
    EXPECT_EQ(found.numbers(), numbers{1});
    ASSERT_EQ(found.damages.size(), 1U);
    EXPECT_NE(found.damages[0].find("no whole record"), std::string::npos);
}

TEST(perf_data, survives_any_changed_byte) {
    perf_data_builder maker(formats());
    maker.index();
    maker.name(1, 1, "shop", 1, false);
    maker.lost(3, 2, 1);
    maker.sample(1, 1, 3, 0, record_of(1));
    maker.compress(200);
    maker.sample(1, 1, 4, 0, record_of(2));
    const bytes whole = maker.file();
    std::size_t read = 0;
    for (std::size_t at = 0; at < whole.size(); at += 5) {
        bytes file = whole;
        file[at] = static_cast<std::uint8_t>(at % 3 == 0 ? 0xff : file[at] ^ 1U);
        read += eventlog::test::is_readable(file) ? 1U : 0U;
    }
    EXPECT_GT(read, whole.size() / 15);
}

}  // namespace
