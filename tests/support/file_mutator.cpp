// SPDX-License-Identifier: MIT
#include "file_mutator.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "base/crc32c.hpp"
#include "file/file_writer.hpp"
#include "file/index_builder.hpp"
#include "record/event_numbers.hpp"
#include "record/ring_records.hpp"

namespace eventlog::test {
namespace {

using elog::block_type;

std::uint16_t head_size_of(const bytes& payload) {
    return static_cast<std::uint16_t>(payload[0] | payload[1] << 8);
}

template <class Head>
Head head_of(const bytes& payload) {
    Head head{};
    std::memcpy(&head, payload.data(), sizeof head);
    return head;
}

/// The index of a newer version: the known members and entries, with the added members.
bytes index_payload(const mutable_block& block, bytes known) {
    const std::size_t size = head_size_of(block.payload);
    const std::size_t known_size = sizeof(elog::index_block);
    known.insert(known.begin() + static_cast<std::ptrdiff_t>(known_size),
                 block.payload.begin() + static_cast<std::ptrdiff_t>(known_size),
                 block.payload.begin() + static_cast<std::ptrdiff_t>(size));
    auto head = head_of<elog::index_block>(known);
    head.head_size = static_cast<std::uint16_t>(size);
    std::memcpy(known.data(), &head, sizeof head);
    head.checksum = elog::index_checksum(std::span(known).first(size));
    std::memcpy(known.data(), &head, sizeof head);
    return known;
}

}  // namespace

void mutable_block::grow_head(std::size_t size) {
    const std::size_t before = head_size_of(payload);
    payload.insert(payload.begin() + static_cast<std::ptrdiff_t>(before), size, 0xaa);
    const auto after = static_cast<std::uint16_t>(before + size);
    std::memcpy(payload.data(), &after, sizeof after);
}

mutable_file::mutable_file(const bytes& file) {
    std::memcpy(&header, file.data(), sizeof header);
    for (const block_location& place : blocks_of(file)) {
        const auto begin =
            file.begin() + static_cast<std::ptrdiff_t>(place.offset + sizeof place.header);
        blocks.push_back(
            {place.header.type, place.header.flags, bytes(begin, begin + place.header.size)});
    }
}

std::size_t mutable_file::last_index() const {
    std::size_t last = 0;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        last = blocks[i].is(block_type::index) ? i : last;
    }
    return last;
}

bytes mutable_file::written() const {
    elog::file_header start = header;
    bytes file(sizeof start);
    std::memcpy(file.data(), &start, sizeof start);
    start.checksum = elog::crc32c(std::span(file).first(offsetof(elog::file_header, checksum)));
    std::memcpy(file.data(), &start, sizeof start);
    elog::index_builder index;
    std::uint64_t number = 0;
    for (const mutable_block& block : blocks) {
        const std::uint64_t offset = file.size();
        bytes payload = block.payload;
        if (block.is(block_type::index)) {
            payload = index_payload(block, index.payload(offset));
            index.begin_section_after(offset);
        } else if (block.is(block_type::end)) {
            auto end = head_of<elog::end_block>(payload);
            end.index = static_cast<std::uint32_t>(offset - index.last_index());
            std::memcpy(payload.data(), &end, sizeof end);
        }
        elog::block_header place{};
        place.magic = elog::block_magic;
        place.type = block.type;
        place.flags = block.flags;
        place.size = static_cast<std::uint32_t>(payload.size());
        place.number = number++;
        place.identity = header.identity;
        file.resize(offset + sizeof place);
        std::memcpy(file.data() + offset, &place, sizeof place);
        file.insert(file.end(), payload.begin(), payload.end());
        file.resize(offset + elog::block_size_in_file(place.size));
        update_block_checksums(file, offset);
        if (block.is(block_type::records)) {
            index.add(place, head_of<elog::records_block>(payload));
        } else if (block.is(block_type::clock)) {
            index.add(place, head_of<elog::clock_block>(payload).reading);
        } else if (!block.is(block_type::index) && !block.is(block_type::end)) {
            index.add(place);
        }
    }
    return file;
}

namespace {

using elog::block_header;

constexpr std::uint32_t rings = 3;

/// The records of `count` marks of a provider, the first one at `time`.
bytes records_of(std::uint32_t provider, std::uint64_t time, std::uint64_t count) {
    bytes records;
    for (std::uint64_t i = 0; i < count; ++i) {
        const mark payload{time + i, checksum_of(time + i)};
        elog::record_view record;
        record.provider = provider;
        record.time = time + i;
        record.thread = 42;
        record.flags = (time + i) % 7 == 0 ? EVENTLOG_RECORD_CUSTOM_TIME : 0;
        record.payload = {reinterpret_cast<const std::uint8_t*>(&payload), sizeof payload};
        elog::append_record(records, record);
    }
    return records;
}

/// The number of a provider's event in a file of rings.
constexpr std::uint32_t number_of(std::uint32_t provider) {
    return 100 * (provider + 1);
}

constexpr std::uint64_t thread_context = std::uint64_t{42} << EVENTLOG_THREAD_SHIFT;

/// The same as records of a ring. The first ones have the context before them.
bytes ring_records_of(std::uint32_t provider, std::uint64_t time, std::uint64_t count) {
    std::vector<std::uint64_t> words;
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t size = sizeof(mark);
        const bool is_extended = (time + i) % 7 == 0;
        // Extended, with a context, or short.
        const std::uint64_t kind = is_extended ? 2 : i % 4 == 2 ? 1 : 0;
        words.push_back(std::uint64_t{number_of(provider)} << EVENTLOG_EVENT_SHIFT |
                        kind << EVENTLOG_KIND_SHIFT |
                        (is_extended ? 0 : size) << EVENTLOG_SHORT_SIZE_SHIFT | (time + i));
        if (kind != EVENTLOG_KIND_SHORT) {
            words.push_back(thread_context);
        }
        if (is_extended) {
            words.push_back(std::uint64_t{EVENTLOG_RECORD_CUSTOM_TIME} << EVENTLOG_FLAGS_SHIFT |
                            size);
        }
        words.push_back(time + i);
        words.push_back(checksum_of(time + i));
    }
    bytes records(words.size() * sizeof(std::uint64_t));
    std::memcpy(records.data(), words.data(), records.size());
    return records;
}

void flip_bits(bytes& file, random_source& random) {
    for (std::size_t left = 1 + random.below(4); left > 0; --left) {
        file[random.below(file.size())] ^= static_cast<std::uint8_t>(1U << random.below(8));
    }
}

void overwrite_range(bytes& file, random_source& random) {
    const std::size_t begin = random.below(file.size());
    const std::size_t size = 1 + random.below(std::min<std::size_t>(file.size() - begin, 1024));
    const bool is_zero = random.below(2) == 0;
    for (std::size_t i = begin; i < begin + size; ++i) {
        file[i] = is_zero ? 0 : static_cast<std::uint8_t>(random.below(256));
    }
}

void remove_range(bytes& file, random_source& random) {
    const std::size_t begin = random.below(file.size());
    const std::size_t size = 1 + random.below(std::min<std::size_t>(file.size() - begin, 2048));
    file.erase(file.begin() + static_cast<std::ptrdiff_t>(begin),
               file.begin() + static_cast<std::ptrdiff_t>(begin + size));
}

/// Removes, repeats or moves a block.
void move_block(bytes& file, random_source& random) {
    const std::vector<block_location> blocks = blocks_of(file);
    const block_location& from = random.pick(blocks);
    if (from.end > file.size()) {
        return;
    }
    const bytes block(file.begin() + static_cast<std::ptrdiff_t>(from.offset),
                      file.begin() + static_cast<std::ptrdiff_t>(from.end));
    const std::size_t to = random.pick(blocks).offset;
    const std::size_t kind = random.below(3);
    if (kind != 0) {
        file.insert(file.begin() + static_cast<std::ptrdiff_t>(to), block.begin(), block.end());
    }
    if (kind != 1) {
        const std::size_t at = from.offset + (kind == 2 && to <= from.offset ? block.size() : 0);
        file.erase(file.begin() + static_cast<std::ptrdiff_t>(at),
                   file.begin() + static_cast<std::ptrdiff_t>(at + block.size()));
    }
}

/// A whole block of the file; nullopt if the chosen one is cut off.
std::optional<block_location> pick_block(const bytes& file, random_source& random) {
    const std::vector<block_location> blocks = blocks_of(file);
    if (blocks.empty()) {
        return std::nullopt;
    }
    const block_location& block = random.pick(blocks);
    return block.end > file.size() ? std::nullopt : std::optional(block);
}

/// Changes the content of a block, whose checksums then fit it.
void change_content(bytes& file, random_source& random) {
    const std::optional<block_location> block = pick_block(file, random);
    if (!block) {
        return;
    }
    const std::size_t header = sizeof block->header;
    const std::size_t size = std::min<std::size_t>(block->header.size, random.below(2) ? 96 : 4096);
    for (std::size_t left = 1 + random.below(2); left > 0 && size != 0; --left) {
        std::uint8_t& changed = file[block->offset + header + random.below(size)];
        changed = random.below(2) == 0 ? static_cast<std::uint8_t>(random.below(256))
                                       : static_cast<std::uint8_t>(changed ^ 1U << random.below(8));
    }
    update_block_checksums(file, block->offset);
}

/// A value at which sums and comparisons of readers go wrong, or one close to the present one.
std::uint64_t edge_value(std::uint64_t present, random_source& random) {
    const std::vector<std::uint64_t> values{0,
                                            1,
                                            2,
                                            present + 1,
                                            present - 1,
                                            present * 2,
                                            present / 2,
                                            INT64_MAX,
                                            UINT64_MAX,
                                            UINT64_MAX - 1,
                                            UINT32_MAX,
                                            UINT16_MAX,
                                            std::uint64_t{1} << 63U,
                                            present + 100,
                                            present - std::min<std::uint64_t>(present, 100),
                                            present ^ std::uint64_t{1} << random.below(64)};
    return random.pick(values);
}

/// Sets a word of a block's payload, mostly of its head, to a value at an edge.
void change_word(bytes& file, random_source& random) {
    const std::optional<block_location> block = pick_block(file, random);
    if (!block) {
        return;
    }
    const std::size_t width = std::size_t{1} << (1 + random.below(3));
    const std::size_t size = std::min<std::size_t>(block->header.size, random.below(4) ? 96 : 4096);
    if (size < width) {
        return;
    }
    const std::size_t at =
        block->offset + sizeof block->header + random.below(size / width) * width;
    std::uint64_t value = 0;
    std::memcpy(&value, file.data() + at, width);
    value = edge_value(value, random);
    std::memcpy(file.data() + at, &value, width);
    update_block_checksums(file, block->offset);
}

/// Changes the type, flags or number in the header of a block, whose checksum then fits it.
void change_header(bytes& file, random_source& random) {
    const std::optional<block_location> block = pick_block(file, random);
    if (!block) {
        return;
    }
    const std::vector<std::size_t> places{4, 6, 16, 17, 19, 23};
    const std::size_t at = block->offset + random.pick(places);
    file[at] = static_cast<std::uint8_t>(file[at] ^ 1U << random.below(4));
    update_block_checksums(file, block->offset);
}

/// Changes the size that a block's header states. The header's checksum then fits, that of the
/// payload does not.
void change_size(bytes& file, random_source& random) {
    const std::optional<block_location> block = pick_block(file, random);
    if (!block) {
        return;
    }
    block_header header = block->header;
    header.size = static_cast<std::uint32_t>(edge_value(header.size, random));
    header.checksum = elog::crc32c(
        {reinterpret_cast<const std::uint8_t*>(&header), offsetof(block_header, checksum)});
    std::memcpy(file.data() + block->offset, &header, sizeof header);
}

/// Adds bytes to a payload, or removes some of its end.
void resize_payload(bytes& file, random_source& random) {
    const std::optional<block_location> block = pick_block(file, random);
    if (!block) {
        return;
    }
    block_header header = block->header;
    const bool is_longer = random.below(2) == 0;
    const std::uint32_t size = header.size;
    header.size = is_longer ? size + 1 + static_cast<std::uint32_t>(random.below(64))
                            : static_cast<std::uint32_t>(random.below(size + 1));
    std::memcpy(file.data() + block->offset, &header, sizeof header);
    const auto begin = file.begin() + static_cast<std::ptrdiff_t>(block->offset + sizeof header);
    bytes payload(begin, begin + size);
    payload.resize(header.size, static_cast<std::uint8_t>(random.below(256)));
    payload.resize(elog::padded_payload_size(header.size));
    file.erase(begin, file.begin() + static_cast<std::ptrdiff_t>(block->end));
    file.insert(file.begin() + static_cast<std::ptrdiff_t>(block->offset + sizeof header),
                payload.begin(), payload.end());
    update_block_checksums(file, block->offset);
}

/// Gives a block the payload of another one, mostly of the same type.
void copy_payload(bytes& file, random_source& random) {
    const std::optional<block_location> to = pick_block(file, random);
    const std::vector<block_location> blocks = blocks_of(file);
    std::vector<block_location> sources;
    for (const block_location& block : blocks) {
        if (to && block.end <= file.size() && block.header.size == to->header.size &&
            block.offset != to->offset &&
            (block.header.type == to->header.type || random.below(8) == 0)) {
            sources.push_back(block);
        }
    }
    if (sources.empty()) {
        return;
    }
    const std::size_t from = random.pick(sources).offset;
    std::memmove(file.data() + to->offset + sizeof to->header,
                 file.data() + from + sizeof to->header, to->header.size);
    update_block_checksums(file, to->offset);
}

/// Changes the file's header, whose checksum then fits it. Its version remains: files of other
/// versions are rejected.
void change_file_header(bytes& file, random_source& random) {
    elog::file_header header{};
    if (file.size() < sizeof header) {
        return;
    }
    std::memcpy(&header, file.data(), sizeof header);
    switch (random.below(3)) {
        case 0:
            header.identity ^= 1U << random.below(32);
            break;
        case 1:
            header.version_minor = static_cast<std::uint16_t>(random.below(0x10000));
            break;
        default:
            header.optional_features ^= std::uint64_t{1} << random.below(64);
            break;
    }
    std::memcpy(file.data(), &header, sizeof header);
    header.checksum = elog::crc32c(std::span(file).first(offsetof(elog::file_header, checksum)));
    std::memcpy(file.data(), &header, sizeof header);
}

void damage_once(bytes& file, random_source& random) {
    switch (random.below(16)) {
        case 0:
            return flip_bits(file, random);
        case 1:
            return overwrite_range(file, random);
        case 2:
            return remove_range(file, random);
        case 3:
            return move_block(file, random);
        case 4:
            return change_header(file, random);
        case 5:
            file.resize(1 + random.below(file.size()));
            return;
        case 6:
            return change_size(file, random);
        case 7:
            return resize_payload(file, random);
        case 8:
            return copy_payload(file, random);
        case 9:
            return change_file_header(file, random);
        case 10:
        case 11:
        case 12:
            return change_word(file, random);
        default:
            return change_content(file, random);
    }
}

}  // namespace

void write_recording(const std::string& path, const sample_kind& kind) {
    elog::file_options options{path, kind.clock, rings, 0, kind.part, kind.compression};
    options.command = "shop --all";
    elog::file_writer writer(options);
    writer.allow_compaction(!kind.is_verbatim && !kind.is_of_rings);
    elog::event_numbers numbers;
    writer.write_clock({1, 1, 1'000'000'000});
    writer.write_offsets({1, 5, 6});
    std::uint64_t sequences[rings] = {};
    std::uint64_t time = 100;
    for (std::uint32_t i = 0; i < 24; ++i) {
        if (i % 6 == 0) {
            elog::provider_instance provider = mark_provider(i / 6);
            provider.pid += i;
            provider.event_base = kind.is_of_rings ? number_of(provider.id) : 0;
            EXPECT_TRUE(numbers.add(provider));
            writer.write_provider(provider);
        }
        elog::record_run run;
        run.ring = i % rings;
        run.count = 1 + i % 9;
        run.lost_before = i % 5 == 4 ? i : 0;
        run.overwritten = i % 10 == 9;
        // Numbers of damaged records, which the loss of the ring counts.
        run.sequence = sequences[run.ring] + run.lost_before + (i == 12 ? 2 : 0);
        const bytes records = kind.is_of_rings ? ring_records_of(i / 6, time, run.count)
                                               : records_of(i / 6, time, run.count);
        run.bytes = records;
        run.context = kind.is_of_rings ? thread_context : 0;
        run.events = &numbers;
        writer.write_run(run);
        sequences[run.ring] = run.sequence + run.count;
        time += 100;
        if (i % 4 == 3) {
            writer.write_clock({time, time, time + 1'000'000'000}, time);
        }
    }
    writer.write_loss(elog::trailing_loss(0, 3, 0, 2));
    writer.write_loss(elog::provider_loss(1, 1, 2, 3));
    elog::recording_notes notes;
    notes.scope = elog::command_scope_counts{1, 2, 3};
    writer.write_notes(notes);
    if (kind.has_end) {
        writer.write_end();
    }
}

void damage_recording(bytes& file, random_source& random) {
    for (std::size_t left = 1 + random.below(3); left > 0 && file.size() > 200; --left) {
        damage_once(file, random);
    }
}

}  // namespace eventlog::test
