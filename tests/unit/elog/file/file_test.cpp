// SPDX-License-Identifier: MIT
//
// .elog files: a round trip keeps the records; a hostile file takes no more memory than allowed,
// and its errors are reported.
#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/crc32c.hpp"
#include "base/user_error.hpp"
#include "decoded_records.hpp"
#include "file/file_check.hpp"
#include "file/file_reader.hpp"
#include "file/file_writer.hpp"
#include "record_builder.hpp"
#include "recording_sample.hpp"
#include "scoped_environment.hpp"
#include "scratch.hpp"

namespace {

namespace test = eventlog::test;
using test::bytes;
using test::contents;
using test::replace;
using test::sample_contents;

constexpr std::uint64_t record_count = 60;

std::string make_sample(const std::string& name, const test::sample_options& options = {}) {
    std::string path = test::scratch_directory() + "/" + name;
    test::write_sample(path, options);
    return path;
}

/// Fails the test if a record is no mark or out of order.
sample_contents read(const std::string& path) {
    sample_contents result = test::read_sample(path);
    EXPECT_EQ(result.wrong, 0U);
    return result;
}

/// The offset of the first block of the type, or the file's size.
std::uint64_t find(const bytes& file, elog::block_type type) {
    for (const test::block_location& block : test::blocks_of(file)) {
        if (block.header.type == static_cast<std::uint16_t>(type)) {
            return block.offset;
        }
    }
    return file.size();
}

/// Changes a byte of a payload and recomputes the checksums.
void change_payload(bytes& file, std::uint64_t block, std::size_t at, std::uint8_t to) {
    file[block + sizeof(elog::block_header) + at] = to;
    test::update_block_checksums(file, block);
}

TEST(file, round_trips_in_time_order) {
    const std::string path = make_sample("whole.elog");
    const sample_contents result = read(path);
    EXPECT_EQ(result.numbers.size(), record_count);
    EXPECT_EQ(result.lost, 5U);
    EXPECT_TRUE(result.damages.empty());
    EXPECT_TRUE(result.has_end);
    const elog::file_reader file(path);
    EXPECT_EQ(file.providers().at(0).process, "tester");
    EXPECT_EQ(file.providers().at(0).schema.events.at(0).fields.at(1).name, "check");
    ASSERT_EQ(file.losses().size(), 1U);
    EXPECT_EQ(file.losses()[0].full, 3U);
    EXPECT_EQ(file.end()->records, record_count);
}

TEST(file, is_read_around_foreign_bytes) {
    const std::string path = make_sample("hole.elog");
    bytes damaged = contents(path);
    const std::size_t middle = damaged.size() / 2;
    std::fill(damaged.begin() + static_cast<std::ptrdiff_t>(middle),
              damaged.begin() + static_cast<std::ptrdiff_t>(middle + 64), std::uint8_t{0xee});
    replace(path, damaged);
    const sample_contents result = read(path);
    EXPECT_GE(result.numbers.size(), record_count - 20);
    EXPECT_TRUE(result.numbers.contains(1));
    EXPECT_TRUE(result.numbers.contains(record_count));
    EXPECT_FALSE(result.damages.empty());
}

TEST(file, of_another_type_is_rejected) {
    const std::string path = eventlog::test::scratch_directory() + "/other";
    replace(path, bytes(1000, 'x'));
    EXPECT_THROW(elog::file_reader{path}, elog::user_error);
    replace(path, {});
    EXPECT_THROW(elog::file_reader{path}, elog::user_error);
    EXPECT_THROW(elog::file_reader{eventlog::test::scratch_directory()}, elog::user_error);
    EXPECT_THROW(elog::file_reader{path + ".missing"}, elog::user_error);
}

TEST(file, without_first_sector_keeps_later_records) {
    test::sample_options options;
    options.records = 6000;
    options.block = 100;
    options.gap_before = 501;
    const std::string path = make_sample("sector.elog", options);
    bytes changed = contents(path);
    for (const std::ptrdiff_t size : {512, 4096}) {
        std::fill(changed.begin(), changed.begin() + size, std::uint8_t{0});
        replace(path, changed);
        const sample_contents result = read(path);
        EXPECT_TRUE(result.opened);
        EXPECT_GE(result.numbers.size(), options.records - (size == 512 ? 0 : 200));
        EXPECT_FALSE(result.damages.empty());
        const elog::file_reader file(path);
        EXPECT_EQ(file.host().ring_count, test::sample_rings);
        EXPECT_EQ(file.providers().at(0).schema.name, "file_test");
        EXPECT_EQ(file.providers().at(0).process, "tester");
    }
}

TEST(file, has_each_schema_and_process_once) {
    const std::string path = test::scratch_directory() + "/shared.elog";
    {
        elog::file_writer writer(path, EVENTLOG_CLOCK_MONOTONIC, 1);
        for (std::uint16_t id = 0; id < 10; ++id) {
            elog::provider_instance provider = test::mark_provider(id);
            provider.pid = 7U + id % 2U;
            provider.start_time = 99;
            provider.parent = 5;
            writer.write_provider(provider);
        }
        writer.write_end();
    }
    std::map<elog::block_type, int> counts;
    for (const test::block_location& block : test::blocks_of(contents(path))) {
        ++counts[static_cast<elog::block_type>(block.header.type)];
    }
    // And once more with the second host.
    EXPECT_EQ(counts[elog::block_type::schema], 2);
    EXPECT_EQ(counts[elog::block_type::process], 4);
    EXPECT_EQ(counts[elog::block_type::provider], 20);
    EXPECT_EQ(elog::check_file(path).providers, 10U);
    EXPECT_EQ(elog::check_file(path).damages, std::vector<std::string>{});
    const elog::file_reader file(path);
    ASSERT_EQ(file.providers().size(), 10U);
    EXPECT_EQ(file.providers().at(3).pid, 8U);
    EXPECT_EQ(file.providers().at(3).start_time, 99U);
    EXPECT_EQ(file.providers().at(3).parent, 5U);
}

TEST(file, keeps_notes_and_last_loss_of_a_provider) {
    const std::string path = test::scratch_directory() + "/notes.elog";
    {
        elog::file_writer writer(path, EVENTLOG_CLOCK_MONOTONIC, 1);
        writer.write_provider(test::mark_provider());
        writer.write_loss(elog::provider_loss(0, 1, 2, 3));
        elog::sampling_report omitted{5, 10, 20, 30, {{"shop", "order", 100, 1, 99, 2}}};
        writer.write_notes({omitted, elog::command_scope_counts{4, 5, 6}});
        writer.write_end(elog::end_reason::disk_full);
    }
    const elog::file_reader file(path);
    ASSERT_EQ(file.losses().size(), 1U);
    EXPECT_EQ(file.losses()[0].provider, "file_test");
    EXPECT_EQ(file.losses()[0].process, "tester");
    EXPECT_EQ(file.losses()[0].pid, 7U);
    EXPECT_EQ(file.losses()[0].busy, 3U);
    ASSERT_TRUE(file.notes().omitted && file.notes().scope);
    EXPECT_EQ(file.notes().omitted->max_rate, 5U);
    EXPECT_EQ(file.notes().omitted->by_rate, 30U);
    ASSERT_EQ(file.notes().omitted->events.size(), 1U);
    EXPECT_EQ(file.notes().omitted->events[0].event, "order");
    EXPECT_EQ(file.notes().omitted->events[0].by_sampling, 99U);
    EXPECT_EQ(file.notes().scope->undecided_processes, 6U);
    EXPECT_EQ(elog::check_file(path).reason, elog::end_reason::disk_full);
    EXPECT_EQ(elog::check_file(path).damages, std::vector<std::string>{});
}

TEST(file, releases_its_reserve_at_the_end) {
    const std::string path = test::scratch_directory() + "/reserve.elog";
    elog::file_options options{path};
    options.has_reserve = true;
    elog::file_writer writer(options);
    const auto allocated = [&path] {
        struct stat status {};
        EXPECT_EQ(::stat(path.c_str(), &status), 0);
        return static_cast<std::uint64_t>(status.st_blocks) * 512;
    };
    const std::uint64_t before = allocated();
    writer.write_end();
    EXPECT_LE(allocated(), 65536U);
    EXPECT_TRUE(before >= 65536 || before == allocated());  // not all file systems have a reserve
    EXPECT_EQ(contents(path).size(), writer.size());
}

TEST(file, that_cannot_be_created_is_reported) {
    EXPECT_THROW(elog::file_writer(eventlog::test::scratch_directory() + "/no/such/folder/x",
                                   EVENTLOG_CLOCK_TSC, 2),
                 elog::user_error);
}

TEST(file, with_duplicate_block_shows_records_once_and_reports_it) {
    const std::string path = make_sample("twice.elog");
    bytes changed = contents(path);
    const std::uint64_t at = find(changed, elog::block_type::records);
    elog::block_header header{};
    std::memcpy(&header, changed.data() + at, sizeof header);
    const auto begin = changed.begin() + static_cast<std::ptrdiff_t>(at);
    const bytes block(begin,
                      begin + static_cast<std::ptrdiff_t>(elog::block_size_in_file(header.size)));
    changed.insert(begin, block.begin(), block.end());
    replace(path, changed);
    const sample_contents result = read(path);
    EXPECT_EQ(result.numbers.size(), record_count);
    EXPECT_FALSE(result.damages.empty());
}

TEST(file, with_wrong_totals_in_end_block_is_reported) {
    const std::string path = eventlog::test::scratch_directory() + "/lying.elog";
    {
        elog::file_writer writer(path, EVENTLOG_CLOCK_MONOTONIC, 3);
        writer.write_end(elog::end_reason::regular, elog::file_totals{5, 0});
    }
    EXPECT_FALSE(read(path).damages.empty());
}

TEST(file, being_written_is_not_reported_as_damaged) {
    const std::string path = eventlog::test::scratch_directory() + "/live.elog";
    elog::file_writer writer(path, EVENTLOG_CLOCK_MONOTONIC, 3);
    std::ofstream(path, std::ios::binary | std::ios::app) << "half a block";
    EXPECT_TRUE(read(path).damages.empty());
    EXPECT_THROW(elog::file_writer(path, EVENTLOG_CLOCK_MONOTONIC, 3), elog::user_error);
}

TEST(file, skips_blocks_of_unknown_type) {
    const std::string path = make_sample("unknown.elog");
    bytes changed = contents(path);
    // The loss block gets a type of the future, with valid checksums.
    const std::uint64_t at = find(changed, elog::block_type::loss);
    changed[at + offsetof(elog::block_header, type)] = 99;
    test::update_block_checksums(changed, at);
    replace(path, changed);
    const sample_contents result = read(path);
    EXPECT_EQ(result.numbers.size(), record_count);
    // The only damage reported: the end block counts the loss in the skipped block.
    EXPECT_EQ(result.damages.size(), 1U);
}

TEST(file, compressed_round_trips_and_is_smaller) {
    test::sample_options options;
    options.records = 6000;
    options.block = 1000;
    const std::string plain = make_sample("plain.elog", options);
    options.compression = 3;
    const std::string compressed = make_sample("compressed.elog", options);
    EXPECT_EQ(read(compressed).numbers, read(plain).numbers);
    EXPECT_TRUE(read(compressed).damages.empty());
    EXPECT_LT(contents(compressed).size(), contents(plain).size() * 2 / 3);
}

TEST(file, without_header_is_read_by_its_blocks) {
    const std::string path = make_sample("headless.elog");
    bytes changed = contents(path);
    std::fill(changed.begin(), changed.begin() + sizeof(elog::file_header), std::uint8_t{0});
    replace(path, changed);
    const sample_contents result = read(path);
    EXPECT_EQ(result.numbers.size(), record_count);
    EXPECT_EQ(result.damages.size(), 1U);
}

TEST(file, of_big_endian_host_is_rejected) {
    const std::string path = make_sample("big_endian.elog");
    bytes changed = contents(path);
    std::reverse(changed.begin(), changed.begin() + 8);
    replace(path, changed);
    try {
        const elog::file_reader file(path);
        FAIL() << "it was read";
    } catch (const elog::user_error& error) {
        EXPECT_NE(std::string_view(error.what()).find("big-endian"), std::string_view::npos);
    }
}

TEST(file, embedded_in_a_record_is_not_parsed) {
    // An event contains a whole .elog file, and the block that contains it is damaged.
    const bytes inner = contents(make_sample("inner.elog"));
    const std::string path = test::scratch_directory() + "/outer.elog";
    {
        elog::file_writer writer(path, EVENTLOG_CLOCK_MONOTONIC, test::sample_rings);
        elog::record_view event;
        event.payload = inner;
        const bytes record = test::encode_records({event});
        elog::record_run run;
        run.count = 1;
        run.bytes = record;
        writer.write_run(run);
        writer.write_end();
    }
    bytes changed = contents(path);
    changed[find(changed, elog::block_type::records) + 1] ^= 1U;  // its header is no longer one
    replace(path, changed);
    const sample_contents result = read(path);
    EXPECT_TRUE(result.numbers.empty());
    EXPECT_FALSE(result.damages.empty());
}

TEST(file, with_records_contradicting_block_header_is_reported) {
    const std::string path = make_sample("counted.elog");
    bytes changed = contents(path);
    const std::uint64_t at = find(changed, elog::block_type::records);
    change_payload(changed, at, offsetof(elog::records_block, count), 200);
    replace(path, changed);
    EXPECT_EQ(read(path).numbers.size(), record_count);
    EXPECT_FALSE(read(path).damages.empty());
}

TEST(file, claiming_4_gib_sizes_does_not_allocate_them) {
    const test::scoped_environment_variable verbatim("EVENTLOG_TEST_COMPACTION", "0");
    const std::string path = make_sample("giant.elog");
    const bytes intact = contents(path);
    bytes changed = intact;
    const std::uint64_t at = find(changed, elog::block_type::records);
    for (std::size_t i = 0; i < 4; ++i) {
        changed[at + offsetof(elog::block_header, size) + i] = 0xff;
    }
    test::update_block_checksums(changed, at);
    replace(path, changed);
    EXPECT_EQ(read(path).numbers.size(), record_count - 10);
    EXPECT_FALSE(read(path).damages.empty());

    changed = intact;  // the sizes of a record and a schema
    constexpr std::size_t record_size_offset = 16;
    for (std::size_t i = 0; i < 4; ++i) {
        change_payload(changed, at, sizeof(elog::records_block) + record_size_offset + i, 0xff);
        change_payload(changed, find(changed, elog::block_type::schema),
                       offsetof(elog::schema_block, size) + i, 0xff);
    }
    replace(path, changed);
    EXPECT_EQ(read(path).numbers.size(), record_count - 10);
    EXPECT_GE(read(path).damages.size(), 2U);
}

TEST(file, with_duplicate_provider_id_keeps_first_and_reports_it) {
    const std::string path = test::scratch_directory() + "/same_number.elog";
    {
        elog::file_writer writer(path, EVENTLOG_CLOCK_MONOTONIC, 1);
        elog::provider_instance provider = test::mark_provider();
        writer.write_provider(provider);
        provider.process = "impostor";
        writer.write_provider(provider);
        writer.write_end();
    }
    const elog::file_reader file(path);
    EXPECT_EQ(file.providers().at(0).process, "tester");
    EXPECT_EQ(file.damages().size(), 2U);  // it is repeated with the second host
}

/// Its schema has more than 4 KiB.
elog::provider_instance large_provider() {
    std::string events;
    for (int i = 0; i < 100; ++i) {
        events += " event event_with_a_long_name_" + std::to_string(i) + " info { number: u64 }";
    }
    return test::record_builder("provider large {" + events + " }", "tester", 1).provider();
}

TEST(file, limits_total_schema_size) {
    const std::string path = test::scratch_directory() + "/schemas.elog";
    constexpr std::size_t provider_count = 10'000;
    std::size_t schema_bytes = 0;
    {
        elog::file_writer writer(elog::file_options{path, EVENTLOG_CLOCK_MONOTONIC, 1, 0, 0, 1});
        elog::provider_instance provider = large_provider();
        ASSERT_GT(provider.schema.binary.size(), 4096U);
        for (std::size_t i = 0; i < provider_count; ++i) {
            provider.id = static_cast<std::uint16_t>(i);
            writer.write_provider(provider);
            schema_bytes += provider.schema.binary.size();
        }
        writer.write_end();
    }
    ASSERT_GT(schema_bytes, std::size_t{32} << 20U);
    const elog::file_reader file(path);
    EXPECT_LE(file.providers().size() * 4096, std::size_t{32} << 20U);
    EXPECT_GT(file.providers().size(), 1000U);
    EXPECT_FALSE(file.damages().empty());
    EXPECT_LE(file.damages().size(), 101U);
}

TEST(file, limits_memory_for_compressed_zeros) {
    // A compression bomb: 2 GiB to merge at once from few bytes.
    const std::string path = test::scratch_directory() + "/bomb.elog";
    constexpr std::uint32_t rings = 2000;
    const bytes zeros(elog::payload_size_max);
    elog::record_view event;
    event.payload = zeros;
    const std::size_t count = elog::records_size_max / elog::ring_size(event);
    const bytes records = test::encode_records(std::vector(count, event));
    {
        elog::file_writer writer(
            elog::file_options{path, EVENTLOG_CLOCK_MONOTONIC, rings, 0, 0, 1});
        elog::record_run run;
        run.count = count;
        run.bytes = records;
        for (run.ring = 0; run.ring < rings; ++run.ring) {
            writer.write_run(run);
        }
        writer.write_end();
    }
    EXPECT_LT(contents(path).size(), std::size_t{1} << 20U);
    elog::file_reader file(path);
    std::size_t shown = 0;
    file.read([&](const elog::merged_record&) { ++shown; });
    EXPECT_GE(shown, std::size_t{500} * 16);
    EXPECT_LT(shown, std::size_t{rings} * 16);
    EXPECT_FALSE(file.damages().empty());
}

TEST(file, has_only_valid_names_in_losses_and_notes) {
    const std::string path = test::scratch_directory() + "/names.elog";
    const std::string bad = "a\x1b[31m";  // would change a terminal's colors
    {
        elog::file_writer writer(path, EVENTLOG_CLOCK_MONOTONIC, 1);
        for (std::uint32_t provider = 0; provider < 2; ++provider) {
            elog::loss_report loss = elog::provider_loss(provider, 0, 1, 0);
            loss.provider = provider == 0 ? bad : "good";
            writer.write_loss(loss);
        }
        elog::recording_notes notes;
        notes.omitted.emplace().events = {{"p", bad}, {bad, "e"}, {"p", "e"}};
        writer.write_notes(notes);
        writer.write_end();
    }
    const elog::file_reader file(path);
    ASSERT_EQ(file.losses().size(), 2U);
    EXPECT_EQ(file.losses()[0].provider, "");
    EXPECT_EQ(file.losses()[1].provider, "good");
    ASSERT_TRUE(file.notes().omitted);
    ASSERT_EQ(file.notes().omitted->events.size(), 1U);
    EXPECT_EQ(file.notes().omitted->events[0].event, "e");
}

TEST(file, with_oversized_frame_is_reported) {
    const std::string path = test::scratch_directory() + "/frame.elog";
    {
        elog::file_writer writer(elog::file_options{path, EVENTLOG_CLOCK_MONOTONIC, 1, 0, 0, 3});
        const bytes records = test::make_records(1, 40'000);  // more than a block may hold
        elog::record_run run;
        run.count = 40'000;
        run.bytes = records;
        writer.write_run(run);
        writer.write_end();
    }
    const sample_contents result = read(path);
    EXPECT_TRUE(result.numbers.empty());
    EXPECT_FALSE(result.damages.empty());
}

}  // namespace
