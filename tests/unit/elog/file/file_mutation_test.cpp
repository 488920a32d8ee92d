// SPDX-License-Identifier: MIT
//
// Files of a newer minor version: unknown optional items in any place of a valid file are skipped
// and counted by all readers, and unknown required ones are refused by name.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/user_error.hpp"
#include "file/file_check.hpp"
#include "file/file_reader.hpp"
#include "file/file_repair.hpp"
#include "file/recording_follower.hpp"
#include "file_mutator.hpp"
#include "recording_sample.hpp"
#include "schema/schema_attributes.hpp"
#include "scoped_environment.hpp"
#include "scratch.hpp"

namespace {

namespace test = eventlog::test;
using elog::block_type;
using test::bytes;
using test::mutable_block;
using test::mutable_file;

constexpr std::uint16_t changing_flags[] = {2, 4, 8, 16, 32, 64, 128};
constexpr std::uint16_t informing_flags[] = {0x100,  0x200,  0x400,  0x800,
                                             0x1000, 0x2000, 0x4000, 0x8000};

std::string path_of(const char* name) {
    return test::scratch_directory() + "/" + name;
}

/// A file with blocks of every type, the first ones twice, and `records` records in three rings.
bytes make_file(std::uint64_t records = 60) {
    const std::string path = path_of("made.elog");
    {
        elog::file_writer writer(path, EVENTLOG_CLOCK_MONOTONIC, test::sample_rings);
        writer.compress(3);
        writer.write_clock({1000, 1000, 1000});
        writer.write_offsets({1000, 5, 37});
        writer.write_provider(test::mark_provider());
        std::vector<std::uint64_t> attempted(test::sample_rings);
        constexpr std::uint64_t block = 10;
        for (std::uint64_t first = 1; first <= records; first += block) {
            const bytes made = test::make_records(first, first + block - 1);
            elog::record_run run;
            run.ring = static_cast<std::uint32_t>(first / block % test::sample_rings);
            run.sequence = attempted[run.ring];
            run.count = block;
            run.bytes = made;
            // Some compressed, some verbatim, and some clocks between them.
            writer.compress(first % 20 == 1 ? 3 : 0);
            writer.allow_compaction(first % 30 == 1);
            writer.write_run(run);
            attempted[run.ring] += block;
            if (first % 50 == 1) {
                const std::uint64_t time = test::time_of(first + block);
                writer.write_clock({time, time, time}, time);
            }
        }
        writer.write_loss(elog::trailing_loss(1, 3));
        elog::recording_notes notes;
        notes.scope = {1, 2, 3};
        notes.omitted.emplace().kept = 7;
        writer.write_notes(notes);
        writer.write_end();
    }
    return test::contents(path);
}

/// Everything that a file_reader finds, as text.
struct contents {
    std::string text;
    std::uint64_t skipped = 0;
    std::vector<std::string> damages;
};

std::string text_of(const elog::merged_record& record) {
    return fmt::format("{} {} {} {}\n", record.record.time, record.record.provider,
                       record.record.event, record.record.payload.size());
}

contents read(const std::string& path, elog::time_range range = {}) {
    elog::file_reader file(path, range);
    contents found;
    file.read([&](const elog::merged_record& record) { found.text += text_of(record); });
    for (const auto& [id, provider] : file.providers()) {
        found.text += fmt::format("{} {} {}\n", id, provider.schema.name, provider.process);
    }
    for (const elog::loss_report& loss : file.losses()) {
        found.text += fmt::format("loss {} {}\n", loss.index, loss.full);
    }
    const elog::recording_notes& notes = file.notes();
    found.text += fmt::format("{} {} {}", notes.scope ? notes.scope->undecided : 0,
                              notes.omitted ? notes.omitted->kept : 0, file.end().has_value());
    found.skipped = file.skipped();
    found.damages = file.damages();
    return found;
}

std::string follow(const std::string& path) {
    std::string text;
    elog::recording_follower(path).follow(
        [&](const elog::merged_record& record, const elog::clock_converter&) {
            text += text_of(record);
        },
        [] {}, [] { return false; });
    return text;
}

using messages = std::vector<std::string>;

class file_mutation : public ::testing::Test {
  protected:
    void write(const mutable_file& changed) { test::replace(path, changed.written()); }

    /// All readers find what is in the original, and count the skipped blocks.
    void expect_same(const mutable_file& changed, std::uint64_t skipped) {
        write(changed);
        const contents found = read(path);
        EXPECT_EQ(found.text, expected);
        EXPECT_EQ(found.skipped, skipped);
        EXPECT_EQ(found.damages, messages());
        const elog::file_check_result checked = elog::check_file(path);
        EXPECT_EQ(checked.damages, messages());
        EXPECT_EQ(checked.unknown_blocks, skipped);
    }

    /// The same without the blocks that were skipped.
    void expect_readable(const mutable_file& changed) {
        write(changed);
        EXPECT_EQ(read(path).damages, messages());
        EXPECT_EQ(read(path).skipped, 1U);
        EXPECT_EQ(read(path, middle).damages, messages());
        const elog::file_check_result checked = elog::check_file(path);
        EXPECT_EQ(checked.damages, messages());
        EXPECT_EQ(checked.unknown_blocks, 1U);
    }

    /// All readers refuse the file and name the item.
    void expect_refused(const mutable_file& changed, std::string_view name) {
        expect_refused(changed.written(), name);
    }
    void expect_refused(const bytes& changed, std::string_view name) {
        test::replace(path, changed);
        const std::function<void()> readers[] = {
            [&] { static_cast<void>(elog::file_reader(path)); },
            [&] { static_cast<void>(elog::file_reader(path, middle)); },
            [&] { static_cast<void>(elog::check_file(path)); },
            [&] { static_cast<void>(elog::repair_file(path, path_of("repaired.elog"))); },
            [&] { static_cast<void>(elog::recording_follower(path)); },
        };
        for (const std::function<void()>& reader : readers) {
            try {
                reader();
                ADD_FAILURE() << "not refused by reader " << &reader - readers << ": " << name;
            } catch (const elog::user_error& error) {
                EXPECT_NE(std::string_view(error.what()).find(name), std::string_view::npos)
                    << error.what();
            }
        }
    }

    const bytes file = make_file();
    const std::string path = path_of("changed.elog");
    const std::string expected = [this] {
        test::replace(path, file);
        return read(path).text;
    }();
    const mutable_file original{file};
    const elog::time_range middle{static_cast<std::int64_t>(test::time_of(20)),
                                  static_cast<std::int64_t>(test::time_of(30))};
};

TEST_F(file_mutation, without_change_is_written_again) {
    EXPECT_EQ(original.written(), file);
    for (std::uint16_t type = 1; type <= 12; ++type) {
        bool is_there = false;
        for (const mutable_block& block : original.blocks) {
            is_there = is_there || block.type == type;
        }
        EXPECT_TRUE(is_there) << type;
    }
}

TEST_F(file_mutation, with_optional_block_is_read) {
    const mutable_block added[] = {
        {13, 0, {}}, {77, 1, bytes(7, 0xff)}, {0x7fff, 0xffff, bytes(5000, 1)}};
    for (std::size_t at = 1; at <= original.last_index(); ++at) {
        mutable_file changed = original;
        const auto place = changed.blocks.begin() + static_cast<std::ptrdiff_t>(at);
        changed.blocks.insert(place, added[at % std::size(added)]);
        expect_same(changed, 1);
        EXPECT_EQ(read(path, middle).damages, messages());
        EXPECT_TRUE(elog::file_reader(path, middle).used_index());
    }
}

TEST_F(file_mutation, with_required_block_is_refused) {
    constexpr std::uint16_t types[] = {0x8000, 0x8001, 0x8000 | 77, 0xffff};
    for (std::size_t at = 1; at <= original.last_index(); ++at) {
        mutable_file changed = original;
        const std::uint16_t type = types[at % std::size(types)];
        changed.blocks.insert(changed.blocks.begin() + static_cast<std::ptrdiff_t>(at),
                              {type, 0, bytes(24)});
        expect_refused(changed, fmt::format("type {},", type));
    }
}

TEST_F(file_mutation, with_informing_flags_is_read) {
    for (std::size_t at = 0; at < original.blocks.size(); ++at) {
        mutable_file changed = original;
        changed.blocks[at].flags |= informing_flags[at % std::size(informing_flags)];
        expect_same(changed, 0);
    }
}

TEST_F(file_mutation, with_changed_payload_of_a_block_is_read_without_it) {
    for (std::size_t at = 0; at < original.blocks.size(); ++at) {
        SCOPED_TRACE(original.blocks[at].type);
        mutable_file changed = original;
        changed.blocks[at].flags |= changing_flags[at % std::size(changing_flags)];
        expect_readable(changed);
    }
}

TEST_F(file_mutation, with_unknown_encoding_is_read_without_these_records) {
    for (std::size_t at = 0; at < original.blocks.size(); ++at) {
        if (!original.blocks[at].is(block_type::records)) {
            continue;
        }
        mutable_file changed = original;
        changed.blocks[at].payload[offsetof(elog::records_block, encoding)] = 2;
        write(changed);
        EXPECT_EQ(read(path).damages, messages());
        EXPECT_EQ(read(path).skipped, 1U);
        EXPECT_EQ(elog::check_file(path).damages, messages());
        EXPECT_EQ(elog::check_file(path).unknown_blocks, 1U);
    }
}

TEST_F(file_mutation, with_more_members_in_a_head_is_read) {
    for (const mutable_block& head_of : original.blocks) {
        if (head_of.is(block_type::end)) {
            continue;  // never has more
        }
        SCOPED_TRACE(head_of.type);
        const std::size_t head = head_of.payload[0];
        for (const std::size_t size :
             {std::size_t{1}, std::size_t{8}, elog::block_head_max - head}) {
            mutable_file changed = original;
            // All hosts and segments of a file are equal.
            for (mutable_block& block : changed.blocks) {
                if (block.type == head_of.type) {
                    block.grow_head(size);
                }
            }
            expect_same(changed, 0);
            EXPECT_TRUE(elog::file_reader(path, middle).used_index());
        }
    }
}

/// Gives the schemas of a file attributes of unknown kinds. Returns the number of schemas.
std::size_t add_schema_attributes(mutable_file& changed) {
    std::size_t schemas = 0;
    for (mutable_block& block : changed.blocks) {
        if (!block.is(block_type::schema)) {
            continue;
        }
        elog::schema_block head{};
        std::memcpy(&head, block.payload.data(), sizeof head);
        const auto body = block.payload.begin() + sizeof head;
        bytes schema(body, block.payload.end());
        EXPECT_EQ(test::add_unknown_attributes(schema), 6U);
        const std::uint64_t old_hash = head.hash;
        head.size = static_cast<std::uint32_t>(schema.size());
        std::memcpy(&head.hash, schema.data() + test::schema_hash_offset, sizeof head.hash);
        block.payload.resize(sizeof head);
        std::memcpy(block.payload.data(), &head, sizeof head);
        block.payload.insert(block.payload.end(), schema.begin(), schema.end());
        ++schemas;
        for (mutable_block& user : changed.blocks) {
            constexpr std::size_t hash_at = offsetof(elog::provider_block, schema);
            if (user.is(block_type::provider) &&
                std::memcmp(user.payload.data() + hash_at, &old_hash, sizeof old_hash) == 0) {
                std::memcpy(user.payload.data() + hash_at, &head.hash, sizeof head.hash);
            }
        }
    }
    return schemas;
}

TEST_F(file_mutation, with_unknown_attributes_of_schemas_is_read) {
    mutable_file changed = original;
    EXPECT_EQ(add_schema_attributes(changed), 2U);
    expect_same(changed, 0);
    elog::file_reader reader(path);
    reader.read([](const elog::merged_record&) {});
    ASSERT_EQ(reader.providers().size(), 1U);
    EXPECT_EQ(reader.providers().begin()->second.schema.unknown_attributes, 6U);
    // Copies keep what this version does not know.
    const std::string repaired = path_of("repaired.elog");
    EXPECT_EQ(elog::repair_file(path, repaired).records, 60U);
    elog::file_reader copy(repaired);
    copy.read([](const elog::merged_record&) {});
    EXPECT_EQ(copy.providers().begin()->second.schema.binary,
              reader.providers().begin()->second.schema.binary);
}

TEST_F(file_mutation, with_optional_features_is_read) {
    mutable_file changed = original;
    changed.header.version_minor = UINT16_MAX;
    changed.header.optional_features = UINT64_MAX;
    for (mutable_block& block : changed.blocks) {
        if (block.is(block_type::host)) {
            const std::uint64_t all = UINT64_MAX;
            std::memcpy(block.payload.data() + offsetof(elog::host_block, optional_features), &all,
                        sizeof all);
        }
    }
    expect_same(changed, 0);
}

TEST_F(file_mutation, with_required_feature_is_refused) {
    for (unsigned bit = 0; bit < 64; ++bit) {
        const std::uint64_t feature = std::uint64_t{1} << bit;
        mutable_file changed = original;
        changed.header.required_features = feature;
        expect_refused(changed, fmt::format("feature {} ", bit));
        // A damaged header leaves only the host.
        changed = original;
        for (mutable_block& block : changed.blocks) {
            if (block.is(block_type::host)) {
                std::memcpy(block.payload.data() + offsetof(elog::host_block, required_features),
                            &feature, sizeof feature);
            }
        }
        bytes damaged = changed.written();
        damaged[offsetof(elog::file_header, reserved)] ^= 1U;
        expect_refused(damaged, fmt::format("feature {} ", bit));
    }
}

TEST_F(file_mutation, with_host_that_contradicts_the_header_is_read_without_that_host) {
    for (const std::size_t member :
         {offsetof(elog::host_block, version), offsetof(elog::host_block, required_features)}) {
        mutable_file changed = original;
        const auto host =
            std::find_if(changed.blocks.begin(), changed.blocks.end(),
                         [](const mutable_block& block) { return block.is(block_type::host); });
        host->payload[member] ^= 4U;
        write(changed);
        EXPECT_EQ(read(path).text, expected);
        EXPECT_EQ(elog::check_file(path).damages.size(), 1U);
        const std::string repaired = path_of("repaired.elog");
        EXPECT_EQ(elog::repair_file(path, repaired).records, 60U);
        EXPECT_EQ(elog::check_file(repaired).damages, messages());
        EXPECT_EQ(elog::file_reader(repaired).host().host_name,
                  elog::file_reader(path).host().host_name);
    }
}

/// Adds up to eight unknown optional items; returns the number of blocks.
std::uint64_t add_items(mutable_file& changed, std::minstd_rand& random) {
    std::uint64_t added = 0;
    const auto below = [&](std::size_t limit) {
        return static_cast<std::size_t>(random() % limit);
    };
    for (std::size_t left = 1 + below(8); left != 0; --left) {
        const std::size_t at = 1 + below(changed.last_index());
        const auto place = changed.blocks.begin() + static_cast<std::ptrdiff_t>(at);
        mutable_block& block = *place;
        switch (below(3)) {
            case 0:
                ++added;
                changed.blocks.insert(place, {static_cast<std::uint16_t>(13 + below(0x7ff0)),
                                              static_cast<std::uint16_t>(random()),
                                              bytes(below(3000), 0xee)});
                break;
            case 1:
                block.flags |= informing_flags[below(std::size(informing_flags))];
                break;
            default:
                if (block.type <= 12 && !block.is(block_type::host) &&
                    !block.is(block_type::segment) && !block.is(block_type::end) &&
                    block.payload[0] + block.payload[1] * 256U + 50 <= elog::block_head_max) {
                    block.grow_head(below(50));
                }
                break;
        }
    }
    return added;
}

TEST_F(file_mutation, with_many_items_is_read_followed_and_repaired) {
    const test::scoped_environment_variable step("EVENTLOG_TEST_INDEX_BYTES", "32768");
    const mutable_file large(make_file(6000));
    test::replace(path, large.written());
    const contents whole = read(path);
    const std::string followed = follow(path);
    const elog::time_range range{static_cast<std::int64_t>(test::time_of(3000)),
                                 static_cast<std::int64_t>(test::time_of(3100))};
    const std::string part = read(path, range).text;
    std::minstd_rand random(31);
    for (int turn = 0; turn < 40; ++turn) {
        mutable_file changed = large;
        const std::uint64_t added = add_items(changed, random);
        write(changed);
        EXPECT_EQ(read(path).text, whole.text);
        EXPECT_EQ(read(path).skipped, added);
        EXPECT_EQ(read(path).damages, messages());
        EXPECT_EQ(read(path, range).text, part);
        EXPECT_EQ(follow(path), followed);
        EXPECT_EQ(elog::check_file(path).unknown_blocks, added);
        EXPECT_EQ(elog::check_file(path).damages, messages());
        const std::string repaired = path_of("repaired.elog");
        EXPECT_EQ(elog::repair_file(path, repaired).records, 6000U);
        EXPECT_EQ(read(repaired).text, whole.text);
        EXPECT_EQ(elog::check_file(repaired).unknown_blocks, 0U);
    }
}

}  // namespace
