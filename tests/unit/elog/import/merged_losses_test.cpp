// SPDX-License-Identifier: MIT
//
// Losses of the files of a recording: each part has those up to its end, each file of a split one
// all.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/user_error.hpp"
#include "file/file_check.hpp"
#include "file/file_reader.hpp"
#include "file/file_writer.hpp"
#include "import/file_merge.hpp"
#include "output/record_counts.hpp"
#include "recording_sample.hpp"
#include "scratch.hpp"

namespace {

namespace test = eventlog::test;

std::string path_of(const std::string& name) {
    return eventlog::test::scratch_directory() + "/" + name;
}

/// Each part of a recording repeats the losses of processes that have ended before.
TEST(merged_losses, have_each_loss_of_a_rotated_recording_once) {
    std::vector<std::string> parts;
    for (const std::uint32_t part : {1U, 2U, 3U}) {
        parts.push_back(path_of("part" + std::to_string(part) + ".elog"));
        elog::file_writer writer(
            elog::file_options{parts.back(), EVENTLOG_CLOCK_MONOTONIC, 2, 77, part});
        const std::uint64_t time = std::uint64_t{100} * part;
        writer.write_clock({time, time, time});
        const auto write = [&](const char* process, std::uint64_t count) {
            const bool is_other = count == 0;
            elog::loss_report loss =
                elog::provider_loss(is_other ? 9 : 8, 10 * count, 2 * count, 3 * count);
            loss.unattached = is_other ? 70 + part : 4 * count;
            loss.refused = 5 * count;
            loss.no_memory = 6 * count;
            loss.process = process;
            loss.pid = is_other ? 0 : 1;
            loss.provider = is_other ? "" : "ended";
            writer.write_loss(loss);
        };
        write("gone", part == 1 ? 1 : 2);  // its process ends in the second part
        write("other processes", 0);
        writer.write_end();
        const elog::file_reader file(parts.back());
        EXPECT_EQ(file.losses().front().refused, part == 1 ? 5U : 10U);
        EXPECT_EQ(file.losses().front().no_memory, part == 1 ? 6U : 12U);
    }
    const std::string path = path_of("of_parts.elog");
    EXPECT_EQ(elog::merge_files(parts, {path}, {}).copied.lost, 2U * (2 + 3 + 4 + 5) + 73);
    elog::record_counts counts;
    const elog::file_reader file(path);
    for (const elog::loss_report& loss : file.losses()) {
        counts.write_loss(loss, file.providers(), file.shared_ring());
    }
    counts.finish();
    const auto& found = counts.lost_by_provider();
    const elog::loss_counts& ended = found.at({"ended", {"gone", 1}});
    EXPECT_EQ(ended.full, 20U);
    EXPECT_EQ(ended.too_large, 4U);
    EXPECT_EQ(ended.busy, 6U);
    EXPECT_EQ(ended.unattached, 8U);
    EXPECT_EQ(ended.refused, 10U);
    EXPECT_EQ(ended.no_memory, 12U);
    EXPECT_EQ(counts.lost().no_memory, 12U);
    EXPECT_EQ(found.at({"<unknown>", {"other processes", 0}}).unattached, 73U);
    EXPECT_EQ(elog::check_file(path).damages, std::vector<std::string>());
}

/// A file of --split-by: marks with these numbers, each with the losses of the ring before it.
std::string write_split_file(const std::string& name, std::uint64_t recording,
                             const std::vector<std::pair<std::uint64_t, std::uint64_t>>& marks,
                             const elog::loss_report& at_end) {
    elog::file_writer writer(
        elog::file_options{path_of(name), EVENTLOG_CLOCK_MONOTONIC, 1, recording});
    writer.write_clock({1000, 1000, 1000});
    writer.write_provider(test::mark_provider());
    std::uint64_t next = 0;
    for (const auto& [number, lost] : marks) {
        const test::bytes records = test::make_records(number, number);
        elog::record_run run;
        run.lost_before = lost;
        run.sequence = next + lost;
        run.count = 1;
        run.bytes = records;
        writer.write_run(run);
        next = run.sequence + 1;
    }
    writer.write_loss(at_end);
    writer.write_mark({5000, 1, elog::mark_kind::pause});
    writer.write_end();
    return path_of(name);
}

/// Each file has the losses of the ring up to its records.
TEST(merged_losses, have_each_loss_of_a_split_recording_once) {
    // 5 are lost before mark 10, 7 before 30, 2 before 40, and 4, 3 of them overwritten, at the
    // end.
    elog::loss_report end = elog::trailing_loss(0, 4, 3, 9);
    elog::loss_report end_of_other = elog::trailing_loss(0, 4 + 2, 3, 9);
    end.unwritten = 1;
    end_of_other.unwritten = 2;
    const elog::loss_report all = elog::trailing_loss(0, 4 + 2 + 7 + 5, 3, 9);
    const std::vector<std::string> files{
        write_split_file("value1.elog", 5, {{10, 5}, {40, 9}}, end),
        write_split_file("value2.elog", 5, {{20, 5}, {30, 7}, {31, 0}}, end_of_other),
        write_split_file("rest.elog", 5, {}, all)};
    const std::string path = path_of("of_values.elog");
    const elog::copy_summary copied = elog::merge_files(files, {path}).copied;
    EXPECT_EQ(copied.records, 5U);
    EXPECT_EQ(copied.lost, 5U + 7 + 2 + 1 + 9 + 3);
    EXPECT_EQ(copied.overwritten, 3U);
    elog::file_reader file(path);
    std::vector<std::uint64_t> lost;
    file.read([&](const elog::merged_record& record) { lost.push_back(record.lost_before); });
    EXPECT_EQ(lost, (std::vector<std::uint64_t>{5, 0, 7, 0, 2}));
    EXPECT_EQ(file.marks().size(), 1U);
    EXPECT_EQ(elog::check_file(path).damages, std::vector<std::string>());
    // Other recordings have losses of their own.
    const std::string other = write_split_file("another.elog", 6, {{50, 8}}, end);
    const std::vector<std::string> more{files[0], files[1], files[2], other};
    EXPECT_EQ(elog::merge_files(more, {path_of("of_both.elog")}).copied.lost,
              copied.lost + 8 + 1 + 9 + 1);
}

/// As files whose host block is damaged: they may be of one recording or of several.
TEST(merged_losses, of_files_that_have_lost_their_recording_are_all_counted) {
    std::vector<std::string> files;
    elog::recording_host host;
    host.host_name = "here";
    for (const std::uint64_t number : {1U, 2U}) {
        files.push_back(path_of("lost_recording" + std::to_string(number) + ".elog"));
        elog::file_writer writer(files.back(), host);
        writer.write_clock({1000, 1000, 1000});
        writer.write_loss(elog::provider_loss(8, 0, 10, 0));
        writer.write_mark({2000, 1, elog::mark_kind::pause});
        writer.write_mark({2000 + number, 1, elog::mark_kind::resume});
        elog::recording_notes notes;
        notes.scope = {number, 0, 0};
        writer.write_notes(notes);
        writer.write_end();
        ASSERT_EQ(elog::file_reader(files.back()).host().recording, 0U);
    }
    const std::string path = path_of("of_lost_recordings.elog");
    EXPECT_EQ(elog::merge_files(files, {path}).copied.lost, 20U);
    const elog::file_reader file(path);
    EXPECT_EQ(file.marks().size(), 4U);
    ASSERT_TRUE(file.notes().scope);
    EXPECT_EQ(file.notes().scope->outside, 3U);
}

TEST(merged_losses, of_files_that_have_lost_their_recording_are_rejected_across_reboots) {
    std::vector<std::string> files;
    elog::recording_host host;
    host.host_name = "here";
    for (const std::uint64_t boot_time : {0ULL, 1'000'000'000'000'000ULL}) {
        files.push_back(path_of("of_boot" + std::to_string(boot_time) + ".elog"));
        elog::file_writer writer(files.back(), host);
        writer.write_clock({1000, 1000, boot_time + 1000});
        writer.write_end();
    }
    EXPECT_THROW(static_cast<void>(elog::merge_files(files, {path_of("of_boots.elog")})),
                 elog::user_error);
}

}  // namespace
