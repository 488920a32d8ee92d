// SPDX-License-Identifier: MIT
//
// Losses of the parts of a recording, each of which has those up to its end.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "file/file_check.hpp"
#include "file/file_reader.hpp"
#include "file/file_writer.hpp"
#include "import/file_merge.hpp"
#include "output/record_counts.hpp"
#include "scratch.hpp"

namespace {

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

}  // namespace
