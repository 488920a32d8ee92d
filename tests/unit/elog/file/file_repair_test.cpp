// SPDX-License-Identifier: MIT
//
// Checking an .elog file to its last byte, and repairing a damaged file.
#include "file/file_repair.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <regex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

#include "base/user_error.hpp"
#include "base/zstd_frames.hpp"
#include "file/file_check.hpp"
#include "file/file_reader.hpp"
#include "file/file_writer.hpp"
#include "record/event_numbers.hpp"
#include "record/ring_records.hpp"
#include "recording_sample.hpp"
#include "scratch.hpp"

namespace {

namespace test = eventlog::test;

std::string path_of(const std::string& name) {
    return test::scratch_directory() + "/" + name;
}

/// The first of consecutive blocks of one type.
std::vector<test::block_location> one_of_each_type(const test::bytes& file) {
    std::vector<test::block_location> found;
    std::uint16_t last = 0;
    for (const test::block_location& block : test::blocks_of(file)) {
        if (block.header.type != last) {
            found.push_back(block);
            last = block.header.type;
        }
    }
    return found;
}

TEST(file_check, accepts_written_file) {
    for (const int compression : {0, 3}) {
        test::sample_options options;
        options.records = 50'000;
        options.compression = compression;
        const std::string path = path_of("sound.elog");
        test::write_sample(path, options);
        const elog::file_check_result found = elog::check_file(path);
        EXPECT_EQ(found.damages, std::vector<std::string>{});
        EXPECT_EQ(found.records, 50'000U);
        EXPECT_EQ(found.record_bytes,
                  50'000U * elog::ring_layout::padded_size(EVENTLOG_SHORT_HEADER_SIZE +
                                                           sizeof(test::mark)));
        EXPECT_EQ(found.lost, test::sample_lost);
        EXPECT_EQ(found.providers, 1U);
        EXPECT_EQ(found.size, test::contents(path).size());
        EXPECT_EQ(found.blocks, test::blocks_of(test::contents(path)).size());
        EXPECT_TRUE(found.has_end && found.has_index && !found.is_being_written);
    }
}

TEST(file_check, finds_errors_despite_valid_checksums) {
    const std::string path = path_of("wrong.elog");
    test::write_sample(path);
    const test::bytes intact = test::contents(path);
    for (const test::block_location& block : test::blocks_of(intact)) {
        // Blocks of other types contain only text for users, such as names in the host block.
        const auto type = static_cast<elog::block_type>(block.header.type);
        const bool says_more = type == elog::block_type::records ||
                               type == elog::block_type::index || type == elog::block_type::end;
        if (!says_more) {
            continue;
        }
        // Each u64 of the head.
        const std::size_t head = type == elog::block_type::records ? sizeof(elog::records_block)
                                 : type == elog::block_type::index ? sizeof(elog::index_block)
                                                                   : sizeof(elog::end_block);
        for (std::size_t at = 8; at < head; at += 8) {
            test::bytes changed = intact;
            changed[block.offset + sizeof(elog::block_header) + at] ^= 1U;
            test::update_block_checksums(changed, block.offset);
            test::replace(path, changed);
            EXPECT_FALSE(elog::check_file(path).damages.empty())
                << "type " << block.header.type << ", offset " << at << " in it";
        }
    }
}

TEST(file_repair, keeps_intact_file_unchanged) {
    for (const int compression : {0, elog::compression_level_default}) {
        test::sample_options options;
        options.records = 5000;
        options.block = 500;
        options.gap_before = 501;
        options.compression = compression;
        const std::string from = path_of("from.elog");
        const std::string to = path_of("to.elog");
        test::write_sample(from, options);
        const elog::repair_summary summary = elog::repair_file(from, to);
        EXPECT_EQ(summary.records, options.records);
        EXPECT_EQ(summary.missing, 0U);
        EXPECT_EQ(summary.damages, std::vector<std::string>{});
        EXPECT_TRUE(summary.had_end);
        EXPECT_EQ(test::read_sample(to).numbers, test::read_sample(from).numbers);
        EXPECT_EQ(test::read_sample(to).lost, test::read_sample(from).lost);
        EXPECT_EQ(elog::check_file(to).damages, std::vector<std::string>{});
        EXPECT_EQ(test::contents(to).size(), test::contents(from).size());
    }
}

TEST(file_repair, keeps_intact_records_and_counts_losses_in_place) {
    const std::string from = path_of("broken.elog");
    const std::string to = path_of("repaired.elog");
    test::write_sample(from);
    const test::bytes intact = test::contents(from);
    for (const test::block_location& block : one_of_each_type(intact)) {
        test::bytes changed = intact;
        changed[block.offset + sizeof(elog::block_header)] ^= 0x40U;  // of the payload
        test::replace(from, changed);
        const test::sample_contents before = test::read_sample(from);
        const elog::repair_summary summary = elog::repair_file(from, to);
        EXPECT_FALSE(summary.damages.empty()) << block.header.type;
        const test::sample_contents after = test::read_sample(to);
        EXPECT_EQ(after.damages, std::vector<std::string>{});
        EXPECT_EQ(after.numbers, before.numbers);
        EXPECT_EQ(after.lost, before.lost + summary.missing);
        const bool is_records =
            block.header.type == static_cast<std::uint16_t>(elog::block_type::records);
        EXPECT_EQ(after.numbers.size() + summary.missing, 60U);
        EXPECT_EQ(summary.missing != 0, is_records);
        EXPECT_EQ(elog::check_file(to).damages, std::vector<std::string>{}) << block.header.type;
    }
}

TEST(file_repair, counts_trailing_damage_as_loss_at_end) {
    const std::string from = path_of("last.elog");
    const std::string to = path_of("last_repaired.elog");
    test::write_sample(from);
    test::bytes changed = test::contents(from);
    std::uint64_t last = 0;
    for (const test::block_location& block : test::blocks_of(changed)) {
        if (block.header.type == static_cast<std::uint16_t>(elog::block_type::records)) {
            last = block.offset;
        }
    }
    for (const std::size_t at : {std::size_t{0}, sizeof(elog::block_header)}) {
        changed[last + at] ^= 1U;  // its header, or its payload
        test::replace(from, changed);
        changed[last + at] ^= 1U;
        EXPECT_EQ(elog::repair_file(from, to).missing, 10U);
        EXPECT_EQ(elog::check_file(to).damages, std::vector<std::string>{});
        EXPECT_EQ(elog::check_file(to).lost, test::sample_lost + 10);
        const elog::file_reader file(to);
        ASSERT_EQ(file.losses().size(), 2U);
        EXPECT_EQ(file.losses()[1].index, 2U);
        EXPECT_EQ(file.losses()[1].full, 10U);
    }
}

TEST(file_repair, distinguishes_overwritten_from_damaged) {
    const std::string from = path_of("overwritten.elog");
    const std::string to = path_of("overwritten_repaired.elog");
    test::sample_options options;
    options.overwritten = true;
    test::write_sample(from, options);
    const test::bytes intact = test::contents(from);
    std::uint64_t block_number = 0;
    for (const test::block_location& block : test::blocks_of(intact)) {
        if (block.header.type != static_cast<std::uint16_t>(elog::block_type::records)) {
            continue;
        }
        ++block_number;
        test::bytes changed = intact;
        changed[block.offset + sizeof(elog::block_header)] ^= 0x40U;  // of the payload
        test::replace(from, changed);
        const elog::repair_summary summary = elog::repair_file(from, to);
        const test::sample_contents after = test::read_sample(to);
        EXPECT_EQ(after.damages, std::vector<std::string>{});
        const elog::file_check_result found = elog::check_file(to);
        EXPECT_EQ(found.damages, std::vector<std::string>{}) << block_number;
        // The fourth block reports the loss of five; it is the last block of its ring.
        const std::uint64_t overwritten_expected = block_number == 4 ? 0 : 5;
        EXPECT_EQ(after.overwritten, overwritten_expected) << block_number;
        EXPECT_EQ(found.overwritten, overwritten_expected) << block_number;
        EXPECT_EQ(summary.missing, 10U) << block_number;
        // The sample also loses three records at the end of a ring.
        EXPECT_EQ(found.lost, 10U + overwritten_expected + 3U) << block_number;
    }
    EXPECT_EQ(block_number, 6U);
}

TEST(file_repair, counts_damaged_records_at_the_end_of_a_block) {
    const std::string from = path_of("partial.elog");
    const std::string to = path_of("partial_repaired.elog");
    test::write_sample(from);
    const test::bytes intact = test::contents(from);
    for (const test::block_location& block : test::blocks_of(intact)) {
        if (block.header.type != static_cast<std::uint16_t>(elog::block_type::records)) {
            continue;
        }
        for (const std::uint32_t sound : {0U, 7U}) {
            test::bytes changed = intact;
            // Of the ten records.
            const auto size =
                static_cast<std::uint32_t>(sound * elog::ring_size(sizeof(test::mark)));
            std::memcpy(changed.data() + block.offset + sizeof(elog::block_header) +
                            offsetof(elog::records_block, decoded_size),
                        &size, sizeof size);
            test::update_block_checksums(changed, block.offset);
            test::replace(from, changed);
            const elog::repair_summary summary = elog::repair_file(from, to);
            EXPECT_EQ(summary.records, 50U + sound);
            EXPECT_EQ(summary.missing, 10U - sound) << block.offset;
            EXPECT_EQ(test::read_sample(to).numbers, test::read_sample(from).numbers);
            EXPECT_EQ(elog::check_file(to).damages, std::vector<std::string>{}) << block.offset;
        }
    }
}

TEST(file_repair, names_no_number_of_records_instead_of_the_same) {
    const std::string from = path_of("other_size.elog");
    const std::string to = path_of("other_size_repaired.elog");
    test::write_sample(from);
    test::bytes changed = test::contents(from);
    for (const test::block_location& block : test::blocks_of(changed)) {
        if (block.header.type == static_cast<std::uint16_t>(elog::block_type::records)) {
            // More than the ten records have.
            ++changed[block.offset + sizeof block.header +
                      offsetof(elog::records_block, decoded_size)];
            test::update_block_checksums(changed, block.offset);
        }
    }
    test::replace(from, changed);
    const elog::repair_summary repaired = elog::repair_file(from, to);
    EXPECT_EQ(repaired.records, 60U);
    const std::regex same_twice(R"(\b(\d+)\b.*\b\1\b)");
    for (const std::vector<std::string>& messages :
         {elog::check_file(from).damages, test::read_sample(from).damages, repaired.damages}) {
        bool is_described = false;
        for (const std::string& message : messages) {
            EXPECT_FALSE(std::regex_search(message, same_twice)) << message;
            is_described = is_described || message.find("has other bytes") != std::string::npos;
        }
        EXPECT_TRUE(is_described);
    }
}

TEST(file_repair, takes_the_schemas_that_a_reader_takes) {
    const std::string from = path_of("schema_size.elog");
    const std::string to = path_of("schema_size_repaired.elog");
    test::write_sample(from);
    const test::bytes intact = test::contents(from);
    for (const std::uint32_t difference : {0U, 1U, UINT32_MAX}) {
        test::bytes changed = intact;
        for (const test::block_location& block : test::blocks_of(intact)) {
            if (block.header.type == static_cast<std::uint16_t>(elog::block_type::schema)) {
                std::uint32_t size = 0;
                std::uint8_t* const at = changed.data() + block.offset +
                                         sizeof(elog::block_header) +
                                         offsetof(elog::schema_block, size);
                std::memcpy(&size, at, sizeof size);
                size += difference;
                std::memcpy(at, &size, sizeof size);
                test::update_block_checksums(changed, block.offset);
            }
        }
        test::replace(from, changed);
        static_cast<void>(elog::repair_file(from, to));
        EXPECT_EQ(elog::file_reader(from).providers().size(), difference == 0 ? 1U : 0U);
        EXPECT_EQ(elog::file_reader(to).providers().size(), difference == 0 ? 1U : 0U);
    }
}

// Records of rings -------------------------------------------------------------------------------

struct other_event {
    std::uint64_t value;
};
using two_events = eventlog::provider<"two_events", test::mark, other_event>;

constexpr std::uint64_t ring_context = std::uint64_t{42} << EVENTLOG_THREAD_SHIFT;

/// A file of short records, by event number and time, of the providers 1 and 2, whose events have
/// the numbers 30, 31 and 40, 41.
void write_ring_file(const std::string& path,
                     const std::vector<std::pair<std::uint64_t, std::uint32_t>>& records) {
    elog::event_numbers numbers;
    elog::file_writer writer(path, EVENTLOG_CLOCK_TSC, 2);
    writer.allow_compaction(false);
    for (const std::uint32_t id : {1U, 2U}) {
        elog::provider_instance provider = test::mark_provider(id);
        provider.schema = elog::provider_schema::parse(two_events::schema());
        provider.event_base = 20 + 10 * id;
        EXPECT_TRUE(numbers.add(provider));
        writer.write_provider(provider);
    }
    std::vector<std::uint64_t> words;
    for (const auto& [number, time] : records) {
        words.push_back(number << EVENTLOG_EVENT_SHIFT |
                        std::uint64_t{8} << EVENTLOG_SHORT_SIZE_SHIFT | time);
        words.push_back(time);
    }
    elog::record_run run;
    run.ring = 1;
    run.count = records.size();
    run.bytes = {reinterpret_cast<const std::uint8_t*>(words.data()), words.size() * 8};
    run.context = ring_context;
    run.events = &numbers;
    writer.write_run(run);
    writer.write_end();
}

struct found_event {
    std::uint32_t provider;
    std::uint16_t event;
    std::uint64_t time;
    std::uint16_t flags;

    bool operator==(const found_event&) const = default;
};

std::vector<found_event> events_in(const std::string& path) {
    std::vector<found_event> found;
    elog::file_reader(path).read([&](const elog::merged_record& each) {
        const elog::record_view& record = each.record;
        EXPECT_EQ(record.thread, 42U);
        EXPECT_EQ(record.cpu, 1U);
        EXPECT_EQ(record.payload.size(), 8U);
        found.push_back({record.provider, record.event, record.time, record.flags});
    });
    return found;
}

TEST(file_repair, keeps_records_of_a_ring_out_of_order) {
    const std::string from = path_of("ring_order.elog");
    const std::string to = path_of("ring_order_repaired.elog");
    write_ring_file(from, {{30, 100}, {31, 0xffff'ffff}, {41, 101}});
    EXPECT_FALSE(elog::check_file(from).damages.empty());
    EXPECT_EQ(elog::repair_file(from, to).records, 3U);
    const std::vector<found_event> expected{{1, 0, 100, 0}, {1, 1, 0xffff'ffff, 0}, {2, 1, 101, 2}};
    EXPECT_EQ(events_in(from), expected);
    EXPECT_EQ(events_in(to), expected);
    EXPECT_EQ(elog::check_file(to).damages, std::vector<std::string>{});
}

TEST(file_repair, names_events_whose_numbers_it_cannot_keep) {
    const std::string from = path_of("ring_numbers.elog");
    const std::string to = path_of("ring_numbers_repaired.elog");
    write_ring_file(from, {{30, 100}, {31, 101}, {32, 102}});
    test::bytes changed = test::contents(from);
    for (const test::block_location& block : test::blocks_of(changed)) {
        if (block.header.type != static_cast<std::uint16_t>(elog::block_type::provider)) {
            continue;
        }
        std::uint8_t* const at = changed.data() + block.offset + sizeof(elog::block_header);
        elog::provider_block provider{};
        std::memcpy(&provider, at, sizeof provider);
        // The numbers of provider 1 would be those of both providers.
        (provider.id == 1 ? provider.event_count : provider.first_event) =
            provider.id == 1 ? 1 : 31;
        std::memcpy(at, &provider, sizeof provider);
        test::update_block_checksums(changed, block.offset);
    }
    test::replace(from, changed);
    const std::vector<found_event> expected{{1, 0, 100, 0}, {2, 0, 101, 0}, {2, 1, 102, 0}};
    EXPECT_EQ(events_in(from), expected);
    EXPECT_EQ(elog::repair_file(from, to).records, 3U);
    EXPECT_EQ(events_in(to), expected);
    EXPECT_EQ(elog::check_file(to).damages, std::vector<std::string>{});
}

TEST(file_repair, adds_end_block_to_truncated_file) {
    const std::string from = path_of("cut_off.elog");
    const std::string to = path_of("ended.elog");
    test::write_sample(from);
    test::bytes changed = test::contents(from);
    changed.resize(changed.size() / 2);
    test::replace(from, changed);
    const elog::repair_summary summary = elog::repair_file(from, to);
    EXPECT_FALSE(summary.had_end);
    EXPECT_EQ(test::read_sample(to).numbers, test::read_sample(from).numbers);
    EXPECT_TRUE(test::read_sample(to).has_end);
    EXPECT_EQ(elog::check_file(to).damages, std::vector<std::string>{});
}

TEST(file_repair, never_modifies_input_or_open_recording) {
    const std::string path = path_of("same.elog");
    test::write_sample(path);
    const test::bytes before = test::contents(path);
    EXPECT_THROW(static_cast<void>(elog::repair_file(path, path)), elog::user_error);
    EXPECT_THROW(static_cast<void>(elog::repair_file(path, path_of("./same.elog"))),
                 elog::user_error);
    EXPECT_EQ(test::contents(path), before);
    const elog::file_writer writer(path_of("live.elog"), EVENTLOG_CLOCK_MONOTONIC, 1);
    EXPECT_THROW(static_cast<void>(elog::repair_file(path_of("live.elog"), path)),
                 elog::user_error);
    EXPECT_EQ(test::contents(path), before);
}

/// A sample without the blocks of these types.
void write_sample_without(const std::string& path, const std::vector<elog::block_type>& types) {
    test::write_sample(path);
    test::bytes changed = test::contents(path);
    for (const test::block_location& block : test::blocks_of(changed)) {
        const auto type = static_cast<elog::block_type>(block.header.type);
        if (std::find(types.begin(), types.end(), type) != types.end()) {
            changed[block.offset + sizeof(elog::block_header)] ^= 1U;
        }
    }
    test::replace(path, changed);
}

TEST(file_repair, recovers_file_without_host) {
    const std::string path = path_of("no_host.elog");
    const std::string to = path_of("no_host_repaired.elog");
    write_sample_without(path, {elog::block_type::host});
    EXPECT_EQ(test::read_sample(path).numbers.size(), 60U);
    const elog::repair_summary summary = elog::repair_file(path, to);
    EXPECT_EQ(summary.records, 60U);
    EXPECT_FALSE(summary.is_without_segment);
    EXPECT_EQ(elog::check_file(to).damages, std::vector<std::string>{});
    EXPECT_EQ(elog::file_reader(to).host().host_name, "");
    EXPECT_EQ(test::read_sample(to).numbers.size(), 60U);
}

TEST(file_repair, deduces_rings_and_clock_of_file_without_segment) {
    const std::string path = path_of("no_segment.elog");
    const std::string to = path_of("no_segment_repaired.elog");
    for (const bool has_clock : {true, false}) {
        std::vector<elog::block_type> lost{elog::block_type::host, elog::block_type::segment};
        if (!has_clock) {
            lost.push_back(elog::block_type::clock);
        }
        write_sample_without(path, lost);
        EXPECT_FALSE(test::read_sample(path).opened);
        const elog::repair_summary summary = elog::repair_file(path, to);
        EXPECT_EQ(summary.records, 60U);
        EXPECT_TRUE(summary.is_without_segment);
        EXPECT_EQ(summary.has_raw_times, !has_clock);
        EXPECT_EQ(elog::check_file(to).damages, std::vector<std::string>{});
        const elog::recording_host host = elog::file_reader(to).host();
        EXPECT_EQ(host.origin, elog::segment_origin::recovered);
        EXPECT_EQ(host.clock, static_cast<std::uint32_t>(EVENTLOG_CLOCK_MONOTONIC));
        EXPECT_EQ(host.ring_count, test::sample_rings + 1);
        EXPECT_EQ(test::read_sample(to).numbers.size(), 60U);
    }
}

TEST(file_repair, rejects_unrepairable_file_with_error_text) {
    const std::string path = path_of("hopeless.elog");
    write_sample_without(
        path, {elog::block_type::host, elog::block_type::segment, elog::block_type::records});
    EXPECT_THROW(static_cast<void>(elog::repair_file(path, path_of("new.elog"))), elog::user_error);
    EXPECT_FALSE(elog::check_file(path).damages.empty());
}

}  // namespace
