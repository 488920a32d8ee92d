// SPDX-License-Identifier: MIT
//
// Notes of .elog files with the begins and ends of pauses.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "file/file_check.hpp"
#include "file/file_reader.hpp"
#include "file/file_repair.hpp"
#include "file/file_writer.hpp"
#include "file/recording_follower.hpp"
#include "scratch.hpp"

namespace {

using marks = std::vector<elog::recording_mark>;

constexpr elog::recording_mark pause_mark(std::uint64_t time, std::uint64_t number) {
    return {time, number, elog::mark_kind::pause};
}
constexpr elog::recording_mark resume_mark(std::uint64_t time, std::uint64_t number) {
    return {time, number, elog::mark_kind::resume};
}

/// Clock and CLOCK_REALTIME are equal.
std::string file_with_pauses(const std::string& name, const marks& written) {
    std::string path = eventlog::test::scratch_directory() + "/" + name;
    elog::file_writer writer(path, EVENTLOG_CLOCK_MONOTONIC, 1);
    writer.write_clock({1, 1, 1});
    for (const elog::recording_mark& mark : written) {
        writer.write_mark(mark);
    }
    writer.write_clock({1000, 1000, 1000});
    writer.write_end();
    return path;
}

TEST(pause_notes, are_read_in_order_and_once) {
    const marks all{pause_mark(100, 1), resume_mark(200, 1), pause_mark(200, 2),
                    resume_mark(200, 2), pause_mark(900, 3)};
    const std::string path =
        file_with_pauses("pauses.elog", {all[4], all[1], all[0], all[2], all[3], all[0], all[1]});
    elog::file_reader file(path);
    EXPECT_EQ(file.marks(), all);
    EXPECT_EQ(elog::check_file(path).damages, std::vector<std::string>{});
    EXPECT_EQ(file.take_marks().size(), 7U);
    EXPECT_EQ(file.take_marks(), marks{});
}

TEST(pause_notes, of_a_range_are_those_that_overlap_it) {
    const marks all{pause_mark(100, 1), resume_mark(200, 1), pause_mark(300, 2),
                    resume_mark(400, 2), pause_mark(500, 3)};
    const std::string path = file_with_pauses("pauses_in_range.elog", all);
    const auto in = [&](std::int64_t from, std::int64_t to) {
        return elog::file_reader(path, {from, to}).marks();
    };
    const marks first(all.begin(), all.begin() + 2);
    const marks second(all.begin() + 2, all.begin() + 4);
    EXPECT_EQ(in(0, 100), marks{});
    EXPECT_EQ(in(0, 101), first);
    EXPECT_EQ(in(150, 160), first);
    EXPECT_EQ(in(200, 300), first);
    EXPECT_EQ(in(201, 300), marks{});
    EXPECT_EQ(in(250, 450), second);
    EXPECT_EQ(in(600, 700), marks{all[4]}) << "it goes on";
    EXPECT_EQ(in(INT64_MIN, 450), marks(all.begin(), all.begin() + 4));
}

TEST(pause_notes, without_number_are_reported) {
    const std::string path = file_with_pauses("pause_without_number.elog", {pause_mark(100, 0)});
    ASSERT_EQ(elog::check_file(path).damages.size(), 1U);
    EXPECT_NE(elog::check_file(path).damages[0].find("has no number"), std::string::npos);
}

/// As after a merge: each pause has the number that its recording gave it.
TEST(pause_notes, are_followed_in_any_order_of_their_numbers) {
    const marks all{pause_mark(100, 2), pause_mark(150, 1), resume_mark(200, 1),
                    resume_mark(300, 2)};
    elog::recording_follower recording(file_with_pauses("numbers_of_pauses.elog", all));
    recording.follow([](const elog::merged_record&, const elog::clock_converter&) {}, [] {},
                     [] { return false; });
    EXPECT_EQ(recording.take_marks(), all);
}

TEST(pause_notes, without_number_are_left_out_of_repaired_files) {
    const marks sound{pause_mark(100, 1), resume_mark(200, 1)};
    const std::string path =
        file_with_pauses("damaged_pauses.elog", {sound[0], resume_mark(150, 0), sound[1]});
    const std::string repaired = path + ".repaired";
    EXPECT_NE(elog::repair_file(path, repaired).damages, std::vector<std::string>{});
    EXPECT_EQ(elog::check_file(repaired).damages, std::vector<std::string>{});
    EXPECT_EQ(elog::file_reader(repaired).marks(), sound);
}

}  // namespace
