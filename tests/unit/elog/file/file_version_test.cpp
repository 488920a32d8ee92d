// SPDX-License-Identifier: MIT
//
// .elog files of other versions: what a reader must know is refused by name; what it need not know
// is skipped and counted.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/crc32c.hpp"
#include "base/user_error.hpp"
#include "file/file_check.hpp"
#include "file/file_reader.hpp"
#include "file/index_builder.hpp"
#include "recording_sample.hpp"
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

/// Corrects the checksum of a changed file header.
void update_header_checksum(bytes& file) {
    constexpr std::size_t checked = offsetof(elog::file_header, checksum);
    const std::uint32_t checksum = elog::crc32c(std::span(file).first(checked));
    std::memcpy(file.data() + checked, &checksum, sizeof checksum);
}

/// The reader rejects the file with a message that has these words.
void expect_rejected(const std::string& path, std::string_view words) {
    try {
        const elog::file_reader file(path);
        FAIL() << "it was read";
    } catch (const elog::user_error& error) {
        EXPECT_NE(std::string_view(error.what()).find(words), std::string_view::npos)
            << error.what();
    }
}

TEST(file_version, of_newer_version_is_rejected) {
    const std::string path = make_sample("newer.elog");
    bytes changed = contents(path);
    changed[8] = elog::file_version + 1;
    update_header_checksum(changed);
    replace(path, changed);
    expect_rejected(path, "version 4");
}

TEST(file_version, of_older_version_is_rejected) {
    // The header of version 2 had 32 bytes.
    const std::string path = test::scratch_directory() + "/older.elog";
    bytes older(1000, 0);
    std::memcpy(older.data(), &elog::file_magic, sizeof elog::file_magic);
    older[8] = 2;
    replace(path, older);
    expect_rejected(path, "version 2");
}

TEST(file_version, of_newer_minor_version_is_read) {
    const std::string path = make_sample("minor.elog");
    bytes changed = contents(path);
    changed[offsetof(elog::file_header, version_minor)] = 9;
    changed[offsetof(elog::file_header, optional_features)] = 0xff;
    update_header_checksum(changed);
    replace(path, changed);
    EXPECT_EQ(read(path).numbers.size(), record_count);
    EXPECT_TRUE(read(path).damages.empty());
}

TEST(file_version, with_several_segments_is_rejected) {
    const std::string path = make_sample("segments.elog");
    const bytes intact = contents(path);
    for (const test::block_location& block : test::blocks_of(intact)) {
        if (block.header.type == static_cast<std::uint16_t>(elog::block_type::segment)) {
            bytes changed = intact;
            change_payload(changed, block.offset, offsetof(elog::segment_block, segment), 1);
            replace(path, changed);
            expect_rejected(path, "several segments");
        }
    }
}

TEST(file_version, with_unknown_required_feature_is_rejected) {
    const std::string path = make_sample("feature.elog");
    const bytes intact = contents(path);
    bytes changed = intact;
    changed[offsetof(elog::file_header, required_features)] = 8;
    update_header_checksum(changed);
    replace(path, changed);
    expect_rejected(path, "feature 3");
    // The host repeats the features, in case the file's header is damaged.
    changed = intact;
    changed[0] ^= 1U;
    change_payload(changed, find(changed, elog::block_type::host),
                   offsetof(elog::host_block, required_features), 16);
    replace(path, changed);
    expect_rejected(path, "feature 4");
}

TEST(file_version, with_unknown_required_block_is_rejected) {
    const std::string path = make_sample("required.elog");
    bytes changed = contents(path);
    const std::uint64_t at = find(changed, elog::block_type::loss);
    const std::uint16_t type = elog::block_type_required | 77;
    std::memcpy(changed.data() + at + offsetof(elog::block_header, type), &type, sizeof type);
    test::update_block_checksums(changed, at);
    replace(path, changed);
    expect_rejected(path, "type 32845");
    EXPECT_THROW(static_cast<void>(elog::check_file(path)), elog::user_error);
}

TEST(file_version, with_unknown_flags_of_records_is_reported) {
    const std::string path = make_sample("flags.elog");
    const bytes intact = contents(path);
    const std::uint64_t at = find(intact, elog::block_type::records);
    for (const std::uint16_t flag : {std::uint16_t{0x80}, std::uint16_t{0x100}}) {
        bytes changed = intact;
        std::memcpy(changed.data() + at + offsetof(elog::block_header, flags), &flag, sizeof flag);
        test::update_block_checksums(changed, at);
        replace(path, changed);
        // The flags of the high byte only inform.
        const bool is_read = flag == 0x100;
        EXPECT_EQ(read(path).numbers.size(), is_read ? record_count : record_count - 10);
        EXPECT_TRUE(read(path).damages.empty());
        EXPECT_EQ(elog::file_reader(path).skipped(), is_read ? 0U : 1U);
        EXPECT_EQ(elog::check_file(path).unknown_blocks, is_read ? 0U : 1U);
    }
}

TEST(file_version, with_unknown_encoding_of_records_is_reported) {
    const std::string path = make_sample("encoding.elog");
    bytes changed = contents(path);
    change_payload(changed, find(changed, elog::block_type::records),
                   offsetof(elog::records_block, encoding), 99);
    replace(path, changed);
    EXPECT_EQ(read(path).numbers.size(), record_count - 10);
    EXPECT_TRUE(read(path).damages.empty());
    elog::file_reader file(path);
    file.read([](const elog::merged_record&) {});
    EXPECT_EQ(file.skipped(), 1U);
}

/// Adapts an index at this offset, whose head has more members, to larger heads of its blocks.
void update_index(bytes& file, std::uint64_t offset, std::size_t added) {
    std::uint8_t* const payload = file.data() + offset + sizeof(elog::block_header);
    elog::index_block head{};
    std::memcpy(&head, payload, sizeof head);
    for (std::size_t i = 0; i < head.entries; ++i) {
        std::uint8_t* const entry = payload + head.head_size + i * sizeof(elog::index_entry);
        std::uint32_t size = 0;
        std::memcpy(&size, entry, sizeof size);
        size += static_cast<std::uint32_t>(added);
        std::memcpy(entry, &size, sizeof size);
    }
    head.checksum = elog::index_checksum({payload, head.head_size});
    std::memcpy(payload, &head, sizeof head);
}

/// The file with eight more bytes in each head, as a later minor version may have. It has one
/// index.
bytes with_larger_heads(const bytes& file) {
    constexpr std::size_t added = 8;
    bytes changed(file.begin(), file.begin() + sizeof(elog::file_header));
    std::size_t index = 0;
    for (const test::block_location& block : test::blocks_of(file)) {
        const auto begin = file.begin() + static_cast<std::ptrdiff_t>(block.offset);
        const auto end = file.begin() + static_cast<std::ptrdiff_t>(block.end);
        const std::size_t at = changed.size();
        if (block.header.type == static_cast<std::uint16_t>(elog::block_type::end)) {
            changed.insert(changed.end(), begin, end);
            const auto distance = static_cast<std::uint32_t>(at - index);
            std::memcpy(changed.data() + at + sizeof(elog::block_header) +
                            offsetof(elog::end_block, index),
                        &distance, sizeof distance);
            test::update_block_checksums(changed, at);
            continue;
        }
        const auto payload = begin + sizeof(elog::block_header);
        const auto head = static_cast<std::uint16_t>(payload[0] | payload[1] << 8);
        changed.insert(changed.end(), begin, payload + head);
        changed.insert(changed.end(), added, 0xaa);
        changed.insert(changed.end(), payload + head, payload + block.header.size);
        changed.resize((changed.size() + 7) / 8 * 8);
        const std::uint32_t size = block.header.size + added;
        std::memcpy(changed.data() + at + offsetof(elog::block_header, size), &size, sizeof size);
        const auto larger = static_cast<std::uint16_t>(head + added);
        std::memcpy(changed.data() + at + sizeof(elog::block_header), &larger, sizeof larger);
        if (block.header.type == static_cast<std::uint16_t>(elog::block_type::index)) {
            index = at;
            update_index(changed, at, added);
        }
        test::update_block_checksums(changed, at);
    }
    return changed;
}

TEST(file_version, with_larger_heads_is_read) {
    const std::string path = make_sample("heads.elog");
    replace(path, with_larger_heads(contents(path)));
    const sample_contents result = read(path);
    EXPECT_EQ(result.numbers.size(), record_count);
    EXPECT_EQ(result.damages, std::vector<std::string>{});
    EXPECT_EQ(elog::file_reader(path).providers().at(0).process, "tester");
    EXPECT_EQ(elog::check_file(path).damages, std::vector<std::string>{});
    EXPECT_TRUE(elog::file_reader(path, {1, 2}).used_index());
}

TEST(file_version, with_smaller_head_is_reported) {
    const std::string path = make_sample("small_head.elog");
    bytes changed = contents(path);
    change_payload(changed, find(changed, elog::block_type::records), 0,
                   sizeof(elog::records_block) - 8);
    replace(path, changed);
    EXPECT_EQ(read(path).numbers.size(), record_count - 10);
    EXPECT_FALSE(read(path).damages.empty());
}

}  // namespace
