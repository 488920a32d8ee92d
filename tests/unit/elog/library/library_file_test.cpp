// SPDX-License-Identifier: MIT
//
// Reading a file with libelog: its records, their fields, and the losses.
#include <linux/eventlog.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <elog/elog.hpp>

#include "file/file_writer.hpp"
#include "record_builder.hpp"
#include "recording_sample.hpp"
#include "scratch.hpp"

namespace {

namespace test = eventlog::test;

std::string make_sample(const std::string& name, const test::sample_options& options = {}) {
    std::string path = test::scratch_directory() + "/library_" + name;
    test::write_sample(path, options);
    return path;
}

/// The numbers of marks, in reading order.
std::vector<std::uint64_t> numbers_of(elog::source& source) {
    std::vector<std::uint64_t> numbers;
    for (const elog::record& record : source) {
        const auto number = record["number"].as<std::uint64_t>();
        EXPECT_TRUE(number.has_value());
        EXPECT_EQ(record["check"].as<std::uint64_t>(), test::checksum_of(number.value_or(0)));
        numbers.push_back(number.value_or(0));
    }
    return numbers;
}

std::vector<std::uint64_t> from_to(std::uint64_t first, std::uint64_t last) {
    std::vector<std::uint64_t> numbers;
    for (std::uint64_t number = first; number <= last; ++number) {
        numbers.push_back(number);
    }
    return numbers;
}

elog::timestamp time_of(std::uint64_t number) {
    return elog::timestamp(std::chrono::nanoseconds(test::realtime_ahead) +
                           std::chrono::nanoseconds(test::time_of(number)));
}

TEST(library_file, yields_all_records_in_time_order) {
    elog::source source = elog::open(make_sample("whole.elog"));
    EXPECT_FALSE(source.is_over());
    EXPECT_EQ(numbers_of(source), from_to(1, 60));
    EXPECT_TRUE(source.is_over());
    EXPECT_FALSE(source.get().has_value());
    EXPECT_EQ(source.totals().records, 60U);
    EXPECT_TRUE(source.complaints().empty());
}

TEST(library_file, record_has_process_time_and_event) {
    elog::source source = elog::open(make_sample("whose.elog"));
    const std::optional<elog::record> record = source.get();
    ASSERT_TRUE(record.has_value());
    EXPECT_EQ(record->provider(), "file_test");
    EXPECT_EQ(record->name(), "mark");
    EXPECT_EQ(record->process(), "tester");
    EXPECT_EQ(record->pid(), 7U);
    EXPECT_EQ(record->thread(), 42U);
    EXPECT_EQ(record->cpu(), 0U);
    EXPECT_EQ(record->time(), time_of(1));
    EXPECT_FALSE(record->is_truncated());
    const elog::event event = record->event();
    EXPECT_EQ(event.level(), elog::level::info);
    ASSERT_EQ(event.size(), 2U);
    EXPECT_EQ(event[1].name(), "check");
    EXPECT_EQ(event[1].type(), "u64");
    EXPECT_EQ(event.find("check"), 1U);
    EXPECT_EQ(event.find("checks"), std::nullopt);
    EXPECT_EQ(source.events().at(0), event);
}

TEST(library_file, reports_losses_in_place_and_in_total) {
    std::vector<elog::loss> losses;
    elog::source source =
        elog::open(make_sample("losses.elog"),
                   {.on_loss = [&](const elog::loss& missing) { losses.push_back(missing); }});
    std::uint64_t reported = 0;
    for (const elog::record& record : source) {
        const std::uint64_t number = record["number"].as<std::uint64_t>().value_or(0);
        EXPECT_EQ(record.lost_before(), number == 31 ? 5U : 0U);
        EXPECT_EQ(losses.size(), number < 31 ? 0U : 1U);
        reported += record.lost_before();
    }
    EXPECT_EQ(reported, 5U);
    EXPECT_EQ(source.totals().lost, test::sample_lost);
    ASSERT_EQ(losses.size(), 2U);
    EXPECT_EQ(losses[0].count, 5U);
    EXPECT_EQ(losses[0].reason, elog::loss_reason::full);
    EXPECT_EQ(losses[0].cpu, 0U);
    EXPECT_EQ(losses[1].count, 3U);
    EXPECT_EQ(losses[1].cpu, 1U);
}

TEST(library_file, resumes_after_loss_callback_throws) {
    struct too_much {};
    const auto refuse = [](const elog::loss& /*missing*/) { throw too_much{}; };
    elog::source source = elog::open(make_sample("thrown.elog"), {.on_loss = refuse});
    std::vector<std::uint64_t> numbers;
    int thrown = 0;
    while (!source.is_over()) {
        try {
            if (const std::optional<elog::record> record = source.get()) {
                numbers.push_back((*record)["number"].as<std::uint64_t>().value_or(0));
            }
        } catch (const too_much&) {
            ++thrown;
        }
    }
    EXPECT_EQ(numbers, from_to(1, 60));
    EXPECT_EQ(thrown, 2);
    EXPECT_EQ(source.totals().records, 60U);
    EXPECT_EQ(source.totals().lost, test::sample_lost);
}

TEST(library_file, reports_overwritten_records) {
    std::vector<elog::loss> losses;
    elog::source source =
        elog::open(make_sample("overwritten.elog", {.overwritten = true}),
                   {.on_loss = [&](const elog::loss& missing) { losses.push_back(missing); }});
    EXPECT_EQ(numbers_of(source).size(), 60U);
    ASSERT_FALSE(losses.empty());
    EXPECT_EQ(losses[0].reason, elog::loss_reason::overwritten);
}

TEST(library_file, distinguishes_lost_and_overwritten_after_last_record) {
    const std::string path = test::scratch_directory() + "/library_end.elog";
    elog::file_writer writer(path, EVENTLOG_CLOCK_MONOTONIC, 2);
    writer.write_clock({0, 0, 1'000'000'000});
    writer.write_loss(elog::trailing_loss(0, 9, 4, 0));
    writer.write_end();
    std::vector<elog::loss> losses;
    elog::source source = elog::open(
        path, {.on_loss = [&](const elog::loss& missing) { losses.push_back(missing); }});
    EXPECT_FALSE(source.get().has_value());
    ASSERT_EQ(losses.size(), 2U);
    EXPECT_EQ(losses[0].count, 5U);
    EXPECT_EQ(losses[0].reason, elog::loss_reason::full);
    EXPECT_EQ(losses[1].count, 4U);
    EXPECT_EQ(losses[1].reason, elog::loss_reason::overwritten);
    EXPECT_EQ(losses[1].cpu, 0U);
    EXPECT_EQ(source.totals().lost, 9U);
}

TEST(library_file, ends_after_trailing_losses) {
    const std::string path = test::scratch_directory() + "/library_end_thrown.elog";
    elog::file_writer writer(path, EVENTLOG_CLOCK_MONOTONIC, 2);
    writer.write_clock({0, 0, 1'000'000'000});
    writer.write_loss(elog::trailing_loss(0, 9, 4, 0));
    writer.write_loss(elog::trailing_loss(1, 2, 0, 0));
    writer.write_end();
    std::uint64_t reported = 0;
    const auto refuse = [&](const elog::loss& missing) {
        reported += missing.count;
        throw std::runtime_error("too much");
    };
    elog::source source = elog::open(path, {.on_loss = refuse});
    int thrown = 0;
    while (!source.is_over()) {
        try {
            EXPECT_FALSE(source.try_get().has_value());
        } catch (const std::runtime_error&) {
            ++thrown;
        }
    }
    EXPECT_EQ(thrown, 3);
    EXPECT_EQ(reported, 11U);
}

TEST(library_file, missing_is_an_error) {
    try {
        const elog::source source = elog::open(test::scratch_directory() + "/not.there");
        FAIL() << "it was opened";
    } catch (const elog::error& mistake) {
        EXPECT_NE(std::string_view(mistake.what()).find("not.there"), std::string_view::npos);
    }
}

TEST(library_file, damaged_is_read_around_damage) {
    const std::string path = make_sample("damaged.elog");
    test::bytes file = test::contents(path);
    const auto blocks = test::blocks_of(file);
    for (const test::block_location& block : blocks) {
        if (block.header.type == static_cast<std::uint16_t>(elog::block_type::records)) {
            file[block.offset + sizeof(elog::block_header) + 40] ^= 0xffU;
            break;
        }
    }
    test::replace(path, file);
    elog::source source = elog::open(path);
    EXPECT_EQ(numbers_of(source), from_to(11, 60));
    EXPECT_FALSE(source.complaints().empty());
}

TEST(library_file, without_end_is_reported) {
    const std::string path = make_sample("endless.elog", {.end = false});
    elog::source source = elog::open(path);
    EXPECT_EQ(numbers_of(source), from_to(1, 60));
    const std::vector<std::string> complaints = source.complaints();
    ASSERT_EQ(complaints.size(), 1U);
    EXPECT_NE(complaints[0].find("its recorder was killed"), std::string::npos) << complaints[0];
}

TEST(library_file, end_outside_time_range_is_not_reported) {
    elog::source source = elog::open(make_sample("early.elog"), {.to = time_of(20)});
    EXPECT_EQ(numbers_of(source), from_to(1, 19));
    EXPECT_TRUE(source.complaints().empty());
}

TEST(library_file, yields_nothing_after_stop) {
    elog::source source = elog::open(make_sample("stopped.elog"));
    EXPECT_TRUE(source.try_get().has_value());
    source.stop();
    EXPECT_TRUE(source.is_over());
    EXPECT_FALSE(source.try_get().has_value());
}

TEST(library_file, copies_a_record_into_a_buffer_that_is_large_enough) {
    elog::source source = elog::open(make_sample("copied.elog"));
    const std::optional<elog::record> record = source.get();
    ASSERT_TRUE(record.has_value());
    std::vector<std::byte> small(20, std::byte{0x55});
    const std::size_t needed = record->copy_to(small);
    EXPECT_GT(needed, small.size());
    EXPECT_EQ(small, std::vector<std::byte>(20, std::byte{0x55}));
    std::vector<std::byte> buffer(needed);
    EXPECT_EQ(record->copy_to(buffer), needed);
    EXPECT_EQ(source.get()->operator[](0).as<int>(), 2);
    const std::optional<elog::record> copy = source.view(buffer);
    ASSERT_TRUE(copy.has_value());
    EXPECT_EQ((*copy)["number"].as<int>(), 1);
    EXPECT_EQ(copy->time(), time_of(1));
    EXPECT_EQ(copy->thread(), 42U);
}

TEST(library_file, rejects_invalid_record_copy) {
    elog::source source = elog::open(make_sample("foreign.elog"));
    std::vector<std::byte> buffer(200);
    buffer.resize(source.get()->copy_to(buffer));
    ASSERT_TRUE(source.view(buffer).has_value());
    EXPECT_FALSE(source.view(std::span(buffer).first(buffer.size() - 1)).has_value());
    EXPECT_FALSE(source.view({}).has_value());
    const std::vector<std::byte> foreign(200, std::byte{0xee});
    EXPECT_FALSE(source.view(foreign).has_value());
}

TEST(library_file, rejects_record_copy_larger_than_a_record) {
    elog::source source = elog::open(make_sample("large_copy.elog"));
    std::vector<std::byte> copy(200);
    copy.resize(source.get()->copy_to(copy));
    const std::size_t head = copy.size() - sizeof(test::mark);
    constexpr std::uint32_t payload_max = EVENTLOG_RECORD_SIZE_MAX - EVENTLOG_EXTENDED_HEADER_SIZE;
    copy.resize(head + payload_max + 1);
    // One of the words is the size of the payload.
    std::size_t accepted = 0;
    for (std::size_t at = 0; at < head; at += sizeof(std::uint32_t)) {
        for (const std::uint32_t size : {payload_max, payload_max + 1}) {
            std::vector<std::byte> changed = copy;
            std::memcpy(changed.data() + at, &size, sizeof size);
            const std::optional<elog::record> record = source.view(changed);
            const std::size_t needed = record ? record->copy_to({}) : 0;
            EXPECT_LE(needed, head + payload_max) << at;
            accepted += needed == head + payload_max ? 1 : 0;
        }
    }
    EXPECT_EQ(accepted, 1U);
}

TEST(library_file, rejects_record_copy_of_another_source) {
    const std::string path = make_sample("two_copies.elog");
    elog::source source = elog::open(path);
    const elog::source other = elog::open(path);
    std::vector<std::byte> buffer(200);
    buffer.resize(source.get()->copy_to(buffer));
    EXPECT_TRUE(source.view(buffer).has_value());
    EXPECT_FALSE(other.view(buffer).has_value());
}

/// A file whose recorder omitted so many records. Returns its path.
std::string make_omitting(const char* name, std::uint64_t by_sampling, std::uint64_t by_rate) {
    std::string path = test::scratch_directory() + "/" + name;
    elog::file_writer writer(path, EVENTLOG_CLOCK_MONOTONIC, 1);
    writer.write_provider(test::mark_provider());
    elog::recording_notes notes;
    notes.omitted = elog::sampling_report{5, 10, by_sampling, by_rate, {}};
    writer.write_notes(notes);
    writer.write_end(elog::end_reason::regular);
    return path;
}

TEST(library_file, sums_of_merged_files_stop_at_the_largest_number) {
    std::vector<elog::source> files;
    for (const char* name : {"omitted_most.elog", "omitted_more.elog"}) {
        files.push_back(elog::open(make_omitting(name, UINT64_MAX - 1, 30)));
        EXPECT_EQ(files.back().totals().omitted_by_sampling, UINT64_MAX - 1);
    }
    const elog::source merged = elog::merge(std::move(files));
    EXPECT_EQ(merged.totals().omitted_by_sampling, UINT64_MAX);
    EXPECT_EQ(merged.totals().omitted_by_rate, 60U);
}

TEST(library_file, has_counts_of_records_omitted_by_recorder) {
    const elog::source file = elog::open(make_omitting("library_omitted.elog", 20, 30));
    EXPECT_EQ(file.totals().omitted_by_sampling, 20U);
    EXPECT_EQ(file.totals().omitted_by_rate, 30U);
    EXPECT_EQ(file.totals().lost, 0U);
}

TEST(library_file, yields_requested_time_range) {
    const std::string path = make_sample("range.elog");
    elog::source source = elog::open(path, {.from = time_of(20), .to = time_of(40)});
    EXPECT_EQ(numbers_of(source), from_to(20, 39));
    elog::source rest = elog::open(path, {.from = time_of(50)});
    EXPECT_EQ(numbers_of(rest), from_to(50, 60));
    elog::source nothing = elog::open(path, {.to = time_of(1)});
    EXPECT_TRUE(numbers_of(nothing).empty());
    EXPECT_TRUE(nothing.is_over());
}

TEST(library_file, yields_records_that_match_predicate) {
    elog::source source =
        elog::open(make_sample("where.elog"), {.where = "number > 29 && number < 40"});
    // A loss before a record that is not selected is reported with the next record.
    const std::optional<elog::record> first = source.get();
    ASSERT_TRUE(first.has_value());
    EXPECT_EQ((*first)["number"].as<int>(), 30);
    EXPECT_EQ(numbers_of(source), from_to(31, 39));
    EXPECT_EQ(source.totals().records, 10U);
    EXPECT_EQ(source.totals().lost, test::sample_lost);
}

TEST(library_file, reports_losses_before_skipped_records) {
    elog::source source = elog::open(make_sample("where_lost.elog"), {.where = "number == 44"});
    const std::optional<elog::record> record = source.get();
    ASSERT_TRUE(record.has_value());
    EXPECT_EQ(record->lost_before(), 5U);
}

TEST(library_file, has_requested_fields_in_order) {
    elog::source source = elog::open(make_sample("fields.elog"), {.fields = {"check", "number"}});
    const std::optional<elog::record> record = source.get();
    ASSERT_TRUE(record.has_value());
    EXPECT_EQ(record->size(), 2U);
    EXPECT_EQ((*record)[0].as<std::uint64_t>(), test::checksum_of(1));
    EXPECT_EQ((*record)[1].as<std::uint64_t>(), 1U);

    elog::source narrow = elog::open(make_sample("field.elog"), {.fields = {"check"}});
    const std::optional<elog::record> only = narrow.get();
    ASSERT_TRUE(only.has_value());
    EXPECT_EQ(only->size(), 1U);
    EXPECT_EQ((*only)["number"].state(), elog::value_state::no_field);
}

/// A file with a record of each of two events; fields of the same name have different types.
std::string make_mixed(const std::string& name) {
    const test::record_builder maker("provider goods { event weighed info { size: u32 } "
                                     "event named info { size: text } }",
                                     "scales", 42);
    test::test_record weighed = maker.record("weighed");
    weighed.set("size", std::uint64_t{5});
    test::test_record named = maker.record("named");
    named.set_text("size", "large");
    std::string path = test::scratch_directory() + "/library_" + name;
    elog::file_writer writer(path, EVENTLOG_CLOCK_MONOTONIC, 2);
    writer.write_clock({0, 0, 1'000'000'000});
    writer.write_provider(maker.provider());
    test::bytes both = weighed.bytes();
    const test::bytes second = named.bytes();
    both.insert(both.end(), second.begin(), second.end());
    writer.write_run({.ring = 0, .count = 2, .bytes = both});
    writer.write_end();
    return path;
}

TEST(library_file, skips_and_reports_event_with_mismatched_predicate) {
    elog::source source = elog::open(make_mixed("mixed.elog"), {.where = "size > 3"});
    const std::optional<elog::record> record = source.get();
    ASSERT_TRUE(record.has_value());
    EXPECT_EQ(record->name(), "weighed");
    EXPECT_FALSE(source.get().has_value());
    const std::vector<std::string> complaints = source.complaints();
    ASSERT_EQ(complaints.size(), 1U);
    EXPECT_NE(complaints[0].find("size"), std::string::npos) << complaints[0];
}

TEST(library_file, rejects_predicate_without_matching_event) {
    const std::string path = make_mixed("unsuited.elog");
    EXPECT_THROW(static_cast<void>(elog::open(path, {.where = "size == 192.168.1.1"})),
                 elog::error);
}

TEST(library_file, rejects_unknown_names) {
    const std::string path = make_sample("names.elog");
    EXPECT_THROW(static_cast<void>(elog::open(path, {.where = "nummer > 3"})), elog::error);
    EXPECT_THROW(static_cast<void>(elog::open(path, {.where = "number >"})), elog::error);
    EXPECT_THROW(static_cast<void>(elog::open(path, {.fields = {"nummer"}})), elog::error);
}

}  // namespace
