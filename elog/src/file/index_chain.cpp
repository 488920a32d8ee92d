// SPDX-License-Identifier: MIT
#include "file/index_chain.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "base/crc32c.hpp"
#include "file/block_contents.hpp"
#include "file/index_builder.hpp"

namespace elog {
namespace {

// Larger than the distance between two index blocks, wherever the last blocks fall.
constexpr std::uint64_t search_back_max = 2 * index_interval_bytes;
constexpr std::uint64_t search_step = std::uint64_t{1} << 20U;

bool is_index(const std::optional<block_location>& place) noexcept {
    return place && place->type() == block_type::index;
}

/// A newer version has written it, so the file is read without an index.
bool is_newer_index(const std::optional<block_location>& place) noexcept {
    return is_index(place) && has_unknown_flags(place->header);
}

}  // namespace

std::optional<index_section> read_index_section(block_file& file, std::uint64_t offset) {
    const std::optional<block_location> place = file.block_at(offset);
    if (!is_index(place) || has_unknown_flags(place->header)) {
        return std::nullopt;
    }
    const std::span<const std::uint8_t> start =
        file.peek(*place, std::min<std::size_t>(place->header.size, block_head_max));
    const std::size_t head_size = head_size_of(start);
    if (head_size < sizeof(index_block)) {
        return std::nullopt;
    }
    const std::span<const std::uint8_t> bytes = start.first(head_size);
    const index_section section{*place, *block_head<index_block>(bytes)};
    const index_block& head = section.head;
    // The head has its own checksum, because the payload's covers the entries too.
    const bool is_sound =
        head.checksum == index_checksum(bytes) &&
        place->header.size == head_size + std::uint64_t{head.entries} * sizeof(index_entry) &&
        head.start >= sizeof(file_header) && head.start < offset && head.previous < head.start &&
        (head.previous == 0) == (head.start == sizeof(file_header)) &&
        place->header.number - head.first_number == head.entries;
    return is_sound ? std::optional(section) : std::nullopt;
}

namespace {

/// Only the last section may list few blocks. This bounds the number of sections by the file's
/// size.
bool is_before(const index_section& section, const index_section& next, std::uint64_t step) {
    const bool is_full = section.head.entries >= index_interval_blocks ||
                         section.place.offset - section.head.start >= step;
    return is_full && section.place.end() == next.head.start &&
           section.place.header.number + 1 == next.head.first_number;
}

/// The offset of the last index block, from the end block.
std::optional<std::uint64_t> index_before_end(block_file& file) {
    if (file.size() < sizeof(file_header) + end_block_size) {
        return std::nullopt;
    }
    const std::optional<block_location> place = file.block_at(file.size() - end_block_size);
    const auto end =
        place ? load_head<end_block>(file, *place, block_type::end) : std::optional<end_block>();
    const bool has_index = end && end->index != 0 && end->index <= place->offset;
    return has_index ? std::optional(place->offset - end->index) : std::nullopt;
}

/// Searches backwards for the last index block of a file without end block.
std::optional<std::uint64_t> last_index_before(block_file& file, std::uint64_t end) {
    const std::uint64_t first = end > search_back_max ? end - search_back_max : 0;
    while (end > first) {
        const std::uint64_t begin = std::max(first, end > search_step ? end - search_step : 0) /
                                    block_alignment * block_alignment;
        std::optional<std::uint64_t> last;
        for (std::optional<block_location> place = file.find_block(begin);
             place && place->offset < end;
             place = file.find_block(place->offset + block_alignment)) {
            if (read_index_section(file, place->offset)) {
                last = place->offset;
            }
        }
        if (last) {
            return last;
        }
        end = begin;
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::vector<index_section>> read_index_chain(block_file& file) {
    std::optional<std::uint64_t> offset = index_before_end(file);
    if (!offset) {
        offset = last_index_before(file, file.size());
    }
    if (!offset) {
        return std::nullopt;
    }
    const std::uint64_t step = index_interval();
    std::vector<index_section> sections;
    while (true) {
        const std::optional<index_section> section = read_index_section(file, *offset);
        const bool fits =
            section && (sections.empty() || is_before(*section, sections.back(), step));
        if (!fits && is_newer_index(file.block_at(*offset))) {
            return std::nullopt;
        }
        if (!fits) {
            file.report("the index at {} is not sound; the file is read without it", *offset);
            return std::nullopt;
        }
        sections.push_back(*section);
        if (section->head.previous == 0) {
            break;
        }
        offset = section->head.previous;
    }
    std::reverse(sections.begin(), sections.end());
    return sections;
}

std::optional<std::vector<listed_block>> read_index_entries(block_file& file,
                                                            const index_section& section) {
    const std::optional<std::vector<std::uint8_t>> payload = file.load(section.place);
    if (!payload) {
        return std::nullopt;  // reported by load()
    }
    // The head has been read before, and the file may have been replaced since.
    if (payload->size() !=
        section.head.head_size + std::uint64_t{section.head.entries} * sizeof(index_entry)) {
        file.report("the index at {} has changed", section.place.offset);
        return std::nullopt;
    }
    std::vector<listed_block> blocks(section.head.entries);
    std::uint64_t offset = section.head.start;
    std::uint64_t number = section.head.first_number;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        index_entry entry{};
        std::memcpy(&entry, payload->data() + section.head.head_size + i * sizeof entry,
                    sizeof entry);
        blocks[i] = {offset, number++, entry};
        offset += block_size_in_file(entry.size);
    }
    if (offset != section.place.offset) {
        file.report("the index at {} lists other blocks than there are", section.place.offset);
        return std::nullopt;
    }
    return blocks;
}

}  // namespace elog
