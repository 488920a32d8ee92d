// SPDX-License-Identifier: MIT
#include "file_mutator.hpp"

#include <cstring>
#include <span>

#include "base/crc32c.hpp"
#include "file/index_builder.hpp"

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

}  // namespace eventlog::test
