// SPDX-License-Identifier: MIT
//
// .elog files written with libelog.
#include <sys/stat.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <elog/elog.hpp>
#include <eventlog/eventlog.hpp>

#include "file/file_check.hpp"
#include "recording_sample.hpp"
#include "scratch.hpp"

namespace {

namespace test = eventlog::test;

struct drop {
    std::uint32_t number;
};

using rain = eventlog::provider<"library_output", drop>;

std::string path_of(const std::string& name) {
    return test::scratch_directory() + "/library_output_" + name;
}

std::string make_sample(const std::string& name) {
    std::string path = path_of(name);
    test::write_sample(path);
    return path;
}

bool is_there(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0;
}

std::string text_in(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// The damages that elog verify reports.
std::vector<std::string> damages_of(const std::string& path) {
    const elog::file_check_result found = elog::check_file(path);
    EXPECT_TRUE(found.has_end);
    EXPECT_TRUE(found.has_index);
    return found.damages;
}

const std::vector<std::string> none;

/// Pours the sample into a file of this name.
std::string pour_sample(const std::string& name, elog::writing_options options = {}) {
    std::string path = path_of(name);
    elog::sink output = elog::write_file(path, options);
    elog::source input =
        elog::open(make_sample(name + ".from"),
                   {.on_loss = [&](const elog::loss& missing) { output.put(missing); }});
    EXPECT_EQ(elog::pour(input, output), 60U);
    output.finish();
    return path;
}

TEST(library_output, contains_all_written_records) {
    const std::string path = pour_sample("copy");
    EXPECT_EQ(damages_of(path), none);
    elog::source from = elog::open(path_of("copy.from"));
    elog::source copy = elog::open(path);
    std::uint64_t count = 0;
    while (const std::optional<elog::record> expected = from.get()) {
        const std::optional<elog::record> found = copy.get();
        ASSERT_TRUE(found.has_value());
        EXPECT_EQ((*found)["number"].as<std::uint64_t>(), ++count);
        EXPECT_EQ((*found)["check"].as<std::uint64_t>(), test::checksum_of(count));
        EXPECT_EQ(found->provider(), expected->provider());
        EXPECT_EQ(found->process(), expected->process());
        EXPECT_EQ(found->pid(), expected->pid());
        EXPECT_EQ(found->thread(), expected->thread());
        EXPECT_EQ(found->cpu(), expected->cpu());
        EXPECT_EQ(found->time(), expected->time());
        EXPECT_EQ(found->lost_before(), expected->lost_before());
    }
    EXPECT_FALSE(copy.get().has_value());
    EXPECT_EQ(count, 60U);
    EXPECT_EQ(copy.totals().lost, test::sample_lost);
    EXPECT_TRUE(copy.complaints().empty());
}

TEST(library_output, is_for_its_user_alone) {
    const mode_t before = ::umask(022);
    const std::string path = pour_sample("private");
    ::umask(before);
    struct stat status {};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777U, 0600U);
}

TEST(library_output, keeps_provider_with_only_losses) {
    const std::string path = path_of("lost_provider");
    elog::sink output = elog::write_file(path);
    constexpr std::uint64_t more_than_providers = 20'000;
    for (std::uint64_t i = 0; i < more_than_providers; ++i) {
        output.put({.count = 1, .reason = elog::loss_reason::too_large, .provider = "gone"});
    }
    output.finish();
    EXPECT_EQ(damages_of(path), none);
    elog::source copy = elog::open(path);
    EXPECT_FALSE(copy.get().has_value());
    EXPECT_EQ(copy.totals().lost, more_than_providers);
}

TEST(library_output, may_be_compressed) {
    const std::string path = pour_sample("compressed", {.compression = 3});
    EXPECT_EQ(damages_of(path), none);
    elog::source copy = elog::open(path);
    std::uint64_t count = 0;
    for (const elog::record& record : copy) {
        EXPECT_EQ(record["number"].as<std::uint64_t>(), ++count);
    }
    EXPECT_EQ(count, 60U);
    EXPECT_THROW(static_cast<void>(elog::write_file(path_of("level"), {.compression = 20})),
                 elog::error);
}

TEST(library_output, contains_complete_records_despite_field_selection) {
    const std::string path = path_of("whole");
    elog::sink output = elog::write_file(path);
    elog::source input = elog::open(make_sample("whole.from"), {.fields = {"check"}});
    elog::pour(input, output);
    output.finish();
    EXPECT_EQ(elog::open(path).get()->operator[]("number").as<int>(), 1);
}

TEST(library_output, contains_live_records) {
    const std::string path = path_of("live");
    elog::sink output = elog::write_file(path);
    elog::source input = elog::open("memory:library_output");
    for (std::uint32_t number = 0; number < 1000; ++number) {
        rain::emit(drop{number});
    }
    input.stop();
    std::vector<elog::timestamp> times;
    while (const std::optional<elog::record> record = input.get()) {
        times.push_back(record->time());
        output.put(*record);
    }
    output.finish();
    EXPECT_EQ(damages_of(path), none);
    elog::source copy = elog::open(path);
    std::size_t count = 0;
    for (const elog::record& record : copy) {
        ASSERT_LT(count, times.size());
        EXPECT_EQ(record.time(), times[count]);
        EXPECT_EQ(record["number"].as<std::size_t>(), count);
        ++count;
    }
    EXPECT_EQ(count, 1000U);
}

TEST(library_output, keeps_distant_times) {
    const std::string path = path_of("far");
    elog::source old = elog::open(make_sample("old"));
    elog::source live = elog::open("memory:library_output");
    rain::emit(drop{1});
    live.stop();
    const elog::record first = old.get().value();
    const elog::record last = live.get().value();
    elog::sink output = elog::write_file(path);
    output.put(first);
    output.put(last);
    output.finish();
    EXPECT_EQ(damages_of(path), none);
    elog::source copy = elog::open(path);
    EXPECT_EQ(copy.get().value().time(), first.time());
    EXPECT_EQ(copy.get().value().time(), last.time());
}

TEST(library_output, contains_losses_of_unknown_position) {
    const std::string path = path_of("losses");
    elog::sink output = elog::write_file(path);
    elog::source input = elog::open(make_sample("losses.from"));
    elog::pour(input, output);
    output.put({.count = 2, .reason = elog::loss_reason::busy, .provider = "absent"});
    output.put({.count = 3, .reason = elog::loss_reason::full, .cpu = 8000});
    output.put({.count = 4, .reason = elog::loss_reason::damaged, .cpu = 1});
    output.finish();
    EXPECT_EQ(damages_of(path), none);
    EXPECT_EQ(elog::check_file(path).lost, 2U + 3U + 4U + 5U);
}

TEST(library_output, without_records_is_a_valid_file) {
    const std::string path = path_of("empty");
    elog::sink output = elog::write_file(path);
    output.finish();
    EXPECT_EQ(damages_of(path), none);
    EXPECT_FALSE(elog::open(path).get().has_value());
}

TEST(library_output, does_not_replace_file_by_default) {
    const std::string path = path_of("taken");
    std::ofstream(path) << "before";
    EXPECT_THROW(static_cast<void>(elog::write_file(path)), elog::error);
    elog::sink output = elog::write_file(path, {.replace = true});
    EXPECT_EQ(text_in(path), "before");
    output.finish();
    EXPECT_EQ(damages_of(path), none);
}

TEST(library_output, does_not_replace_file_created_meanwhile) {
    const std::string path = path_of("quicker");
    elog::sink output = elog::write_file(path);
    std::ofstream(path) << "before";
    EXPECT_THROW(output.finish(), elog::error);
    EXPECT_EQ(text_in(path), "before");
}

TEST(library_output, appears_only_when_finished) {
    const std::string path = path_of("given_up");
    {
        elog::sink output = elog::write_file(path);
        elog::source input = elog::open(make_sample("given_up.from"));
        elog::pour(input, output);
        EXPECT_FALSE(is_there(path));
    }
    EXPECT_FALSE(is_there(path));
    EXPECT_FALSE(is_there(path + ".unfinished"));
}

TEST(library_output, does_not_replace_file_being_written) {
    const std::string path = path_of("twice");
    elog::sink output = elog::write_file(path);
    EXPECT_THROW(static_cast<void>(elog::write_file(path)), elog::error);
    output.finish();
    EXPECT_EQ(damages_of(path), none);
}

TEST(library_output, rejects_records_after_end) {
    elog::sink output = elog::write_file(path_of("ended"));
    elog::source input = elog::open(make_sample("ended.from"));
    output.finish();
    EXPECT_THROW(output.put(input.get().value()), elog::error);
}

}  // namespace
