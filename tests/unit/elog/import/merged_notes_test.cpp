// SPDX-License-Identifier: MIT
//
// Counts of omitted events in a merged file: of each recording once.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "file/file_check.hpp"
#include "file/file_reader.hpp"
#include "file/file_writer.hpp"
#include "import/file_merge.hpp"
#include "import/repeated_contents.hpp"
#include "scratch.hpp"

namespace {

std::string path_of(const std::string& name) {
    return eventlog::test::scratch_directory() + "/" + name;
}

std::string write_file(const std::string& name, std::uint64_t recording,
                       const elog::recording_notes& notes) {
    elog::file_writer writer(
        elog::file_options{path_of(name), EVENTLOG_CLOCK_MONOTONIC, 1, recording});
    writer.write_clock({100, 100, 100});
    writer.write_notes(notes);
    writer.write_end();
    return path_of(name);
}

elog::recording_notes merged_notes(const std::vector<std::string>& paths) {
    const std::string path = path_of("merged_notes.elog");
    static_cast<void>(elog::merge_files(paths, {path}));
    EXPECT_EQ(elog::check_file(path).damages, std::vector<std::string>{});
    return elog::file_reader(path).notes();
}

TEST(merged_notes, are_sums_of_recordings) {
    const elog::recording_notes one{
        elog::sampling_report{5, 10, 20, 3, {{"shop", "order", 10, 7, 20, 3}}},
        elog::command_scope_counts{4, 5, 6}};
    const elog::recording_notes other{
        elog::sampling_report{
            0, 100, 200, 0, {{"shop", "order", 10, 70, 90, 0}, {"shop", "order", 4, 30, 110, 0}}},
        elog::command_scope_counts{40, 50, 60}};
    const elog::recording_notes found =
        merged_notes({write_file("one.elog", 1, one), write_file("same.elog", 1, one),
                      write_file("other.elog", 2, other), write_file("none.elog", 3, {})});
    ASSERT_TRUE(found.omitted && found.scope);
    EXPECT_EQ(found.omitted->kept, 110U);
    EXPECT_EQ(found.omitted->by_sampling, 220U);
    EXPECT_EQ(found.omitted->by_rate, 3U);
    EXPECT_EQ(found.omitted->max_rate, 5U);
    ASSERT_EQ(found.omitted->events.size(), 2U);
    EXPECT_EQ(found.omitted->events[0].every, 4U);
    EXPECT_EQ(found.omitted->events[0].by_sampling, 110U);
    EXPECT_EQ(found.omitted->events[1].every, 10U);
    EXPECT_EQ(found.omitted->events[1].kept, 77U);
    EXPECT_EQ(found.omitted->events[1].by_sampling, 110U);
    EXPECT_EQ(found.scope->outside, 44U);
    EXPECT_EQ(found.scope->undecided, 55U);
    EXPECT_EQ(found.scope->undecided_processes, 66U);
}

TEST(merged_notes, have_as_many_events_as_a_reader_keeps) {
    elog::repeated_contents contents;
    for (std::uint32_t file = 0; file < 2; ++file) {
        contents.add_file(file + 1, 0);
        elog::sampling_report omitted;
        omitted.kept = 3;
        for (std::size_t i = 0; i < elog::omitted_events_max; ++i) {
            // The first one is in both.
            const std::string name = "e" + std::to_string(i == 0 ? 0 : i * 2 + file);
            omitted.events.push_back({"shop", name, 10, 7, 0, 0});
        }
        contents.take_notes(file, {omitted, {}});
    }
    const elog::recording_notes found = contents.notes();
    ASSERT_TRUE(found.omitted);
    EXPECT_EQ(found.omitted->kept, 6U);
    ASSERT_EQ(found.omitted->events.size(), elog::omitted_events_max);
    EXPECT_EQ(found.omitted->events[0].event, "e0");
    EXPECT_EQ(found.omitted->events[0].kept, 14U);
}

TEST(merged_notes, are_absent_without_any) {
    const elog::recording_notes found = merged_notes({write_file("nothing.elog", 1, {})});
    EXPECT_FALSE(found.omitted || found.scope);
}

}  // namespace
