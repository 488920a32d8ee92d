// SPDX-License-Identifier: MIT
//
// The part of file_reader that reads a range of time with the help of the index: the blocks that
// may contain records of the range, the blocks with metadata, and the clock readings that convert
// the records' times exactly as a full scan would.
#include <algorithm>
#include <span>
#include <unordered_map>

#include "file/block_contents.hpp"
#include "file/file_reader.hpp"
#include "file/range_selector.hpp"

namespace elog {
namespace {

/// The position of the first of some records that are later than the other blocks of their ring:
/// its time, or `not_before` for a custom clock.
std::uint64_t earliest_position(run_reader records, std::uint64_t not_before) {
    std::uint64_t found = UINT64_MAX;
    for (record_view record; records.next(record);) {
        if (!has_custom_time(record)) {
            found = std::min(found, record.time);
        } else if (found == UINT64_MAX) {
            found = not_before;
        }
    }
    return found;
}

/// The head of an uncompressed payload, unverified.
template <class Block>
std::optional<Block> peek_head(block_file& file, const block_location& place) {
    const std::size_t size = std::min<std::size_t>(place.header.size, block_head_max);
    return (place.header.flags & block_compressed) == 0 ? block_head<Block>(file.peek(place, size))
                                                        : std::nullopt;
}

/// The members that is_readable() tests.
block_header header_of(const listed_block& listed) noexcept {
    block_header header{};
    header.type = listed.entry.type;
    header.flags = listed.entry.flags;
    return header;
}

std::vector<std::uint64_t> sorted_times(const std::vector<recording_mark>& marks) {
    std::vector<std::uint64_t> times;
    for (const recording_mark& mark : marks) {
        times.push_back(mark.time);
    }
    std::sort(times.begin(), times.end());
    return times;
}

}  // namespace

/// Reads the metadata blocks of a section, and its clock readings if they are needed. Returns false
/// if another block is found in their place.
bool file_reader::read_metadata_blocks(const std::vector<listed_block>& blocks,
                                       bool needs_readings) {
    for (const listed_block& listed : blocks) {
        const block_type type = listed.type();
        check_block_type(file_.path(), listed.entry.type);
        const block_location described{listed.offset, header_of(listed)};
        if (!is_readable(described)) {
            continue;
        }
        const bool is_needed = (type == block_type::clock && needs_readings) || is_metadata(type);
        if (!is_needed) {
            continue;
        }
        const std::optional<block_location> place = file_.block_at(listed.offset);
        if (!place || place->header.number != listed.number || place->type() != type ||
            place->header.flags != listed.entry.flags) {
            return false;
        }
        read_block(*place);
    }
    return true;
}

/// False if a sound block has another number or ring than the index says: a scan finds its records.
/// A damaged block is reported when it is read.
bool file_reader::is_where_listed(const listed_block& listed) {
    const std::optional<block_location> place = file_.block_at(listed.offset);
    if (!place) {
        return true;
    }
    const std::optional<records_block> head = peek_records_head(file_, *place);
    return place->type() == block_type::records && place->header.number == listed.number && head &&
           head->ring == listed.entry.ring;
}

bool file_reader::read_listed_blocks(const index_section& section, const range_selector& wanted) {
    const bool is_wanted = wanted.may_contain(section);
    const std::size_t readings_before = clock_.pairs().size();
    const std::optional<std::vector<listed_block>> blocks = read_index_entries(file_, section);
    if (!blocks || !read_metadata_blocks(*blocks, wanted.needs_readings(section))) {
        return false;
    }
    clock_converter readings(host_.clock);
    for (const eventlog_clock_sample& reading :
         std::span(clock_.pairs()).subspan(readings_before - (readings_before == 0 ? 0 : 1))) {
        readings.add(reading);
    }
    for (const listed_block& listed : *blocks) {
        const index_entry& entry = listed.entry;
        if (listed.type() == block_type::records && entry.segment != 0) {
            return false;  // with a clock of its own, if it exists
        }
        if (!is_wanted || listed.type() != block_type::records ||
            has_unknown_flags(header_of(listed)) || !wanted.may_contain(section, entry, readings)) {
            continue;
        }
        if (entry.ring >= records_.size() || !is_where_listed(listed)) {
            return false;
        }
        records_[entry.ring].push_back({listed.offset, listed.number});
    }
    return true;
}

void file_reader::report_wrong_index(const index_section& section) {
    file_.report("the index at {} lists other blocks than there are; the file is read without it",
                 section.place.offset);
}

bool file_reader::read_section_blocks(const index_section& section, const range_selector& wanted) {
    const index_block& head = section.head;
    const bool is_needed = wanted.needs_readings(section);
    if (!is_needed && head.clocks != 0) {
        // The readings on both sides of a selected section, and the first and last one of the file.
        clock_.add(sample_of(head.first_clock));
        clock_.add(sample_of(head.last_clock));
        add_watermark(section.place.offset, head.last_clock.watermark);
    }
    if ((is_needed || head.others != 0) && !read_listed_blocks(section, wanted)) {
        report_wrong_index(section);
        return false;
    }
    return true;
}

/// Returns false if the block's head cannot be read without the rest.
bool file_reader::add_hint(const listed_block& listed, range_hints& hints) {
    const bool is_note = listed.type() == block_type::note;
    const bool is_offsets = listed.type() == block_type::offsets && has_offsets(range_.clock);
    if ((!is_note && !is_offsets) || has_unknown_flags(header_of(listed))) {
        return true;
    }
    const std::optional<block_location> place = file_.block_at(listed.offset);
    if (!place || place->type() != listed.type()) {
        return true;  // reported when the section's blocks are read
    }
    if (is_note) {
        const auto note = peek_head<note_block>(file_, *place);
        if (note && is_of_pause(*note)) {
            hints.marks.push_back(note->values[0]);
        }
        return note.has_value();
    }
    const auto offsets = peek_head<offsets_block>(file_, *place);
    if (offsets) {
        const auto offset = static_cast<double>(
            range_.clock == display_clock::tai ? offsets->tai : offsets->boottime);
        hints.offset_min = std::min(hints.offset_min, offset);
        hints.offset_max = std::max(hints.offset_max, offset);
    }
    return offsets.has_value();
}

/// nullopt if a section is unsound, or has a block that add_hint() cannot read.
std::optional<range_hints> file_reader::find_hints(const std::vector<index_section>& sections) {
    range_hints hints;
    for (const index_section& section : sections) {
        if (section.head.others == 0) {
            continue;
        }
        const std::optional<std::vector<listed_block>> blocks = read_index_entries(file_, section);
        if (!blocks) {
            report_wrong_index(section);
            return std::nullopt;
        }
        for (const listed_block& listed : *blocks) {
            if (!add_hint(listed, hints)) {
                return std::nullopt;
            }
        }
    }
    std::sort(hints.marks.begin(), hints.marks.end());
    if (hints.offset_min > hints.offset_max) {
        hints.offset_min = hints.offset_max = 0;
    }
    return hints;
}

/// Returns false if there is no index, or an unsound one, or one that does not suffice.
bool file_reader::scan_using_index() {
    const std::optional<std::vector<index_section>> sections = read_index_chain(file_);
    if (!sections) {
        return false;
    }
    const bool has_more = sections->back().place.end() + end_block_size < file_.size();
    if (has_more && has_offsets(range_.clock)) {
        return false;  // the rest may contain offsets
    }
    const std::optional<range_hints> hints = find_hints(*sections);
    if (!hints) {
        return false;
    }
    const range_selector wanted(range_, *sections, *hints, host_.clock, has_more);
    for (const index_section& section : *sections) {
        if (!read_section_blocks(section, wanted)) {
            reset();
            return false;
        }
    }
    // The blocks after the last index.
    const block_location& last = sections->back().place;
    walker_ = block_walker(file_, last.end(), last.header.number + 1);
    scan_blocks();
    if (lacks_readings(*sections, wanted)) {
        reset();
        return false;
    }
    return true;
}

/// Whether readings that were left out convert marks, or records of the range, that follow the last
/// index: both may be of any time.
bool file_reader::lacks_readings(const std::vector<index_section>& sections,
                                 const range_selector& wanted) {
    const std::vector<std::uint64_t> marks = sorted_times(marks_);
    if (std::any_of(sections.begin(), sections.end(), [&](const index_section& section) {
            return wanted.lacks_readings(section, marks);
        })) {
        return true;
    }
    const std::uint64_t end_of_indexes = sections.back().place.end();
    // So many that the writer would have written an index: a scan costs less than comparing each
    // with all sections.
    std::size_t left = index_interval_blocks;
    for (const std::vector<records_location>& ring : records_) {
        for (std::size_t i = ring.size(); i-- != 0 && ring[i].offset >= end_of_indexes;) {
            if (left-- == 0) {
                return true;
            }
            const std::optional<block_location> place = file_.block_at(ring[i].offset);
            const auto head = place ? peek_records_head(file_, *place) : std::nullopt;
            if (head &&
                std::any_of(sections.begin(), sections.end(), [&](const index_section& section) {
                    return wanted.lacks_readings(section, head->earliest, head->latest);
                })) {
                return true;
            }
        }
    }
    return false;
}

std::optional<std::uint64_t> file_reader::earliest() {
    std::optional<std::uint64_t> found;
    for (const std::vector<records_location>& places : records_) {
        for (const records_location& from : places) {
            // A damaged block may contain any time.
            const std::optional<block_location> place = file_.block_at(from.offset);
            const std::optional<std::vector<std::uint8_t>> payload =
                place ? file_.load(*place) : std::nullopt;
            const auto head =
                payload ? block_head<records_block>(*payload) : std::optional<records_block>();
            std::vector<std::uint8_t> decoded;
            const auto sound = head ? decoder_.decode(*head, body_of(*payload), decoded)
                                    : std::optional<decoded_records>();
            if (sound && sound->count != 0) {
                const std::uint64_t first = earliest_position(
                    sound->records(head->ring, decoder_.events()), watermark_at(from.offset));
                found = std::min(found.value_or(first), first);
                break;
            }
        }
    }
    return found;
}

/// On the clock of the range.
std::int64_t file_reader::time_in_range(std::uint64_t time) const {
    return to_display_time(range_.clock, clock_, time);
}

std::vector<recording_mark> file_reader::marks() const {
    std::vector<recording_mark> all = marks_;
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    if (range_.is_everything()) {
        return all;
    }
    std::unordered_map<std::uint64_t, time_range> pauses;  // by number
    for (const recording_mark& mark : all) {
        time_range& pause = pauses[mark.number];
        (mark.kind == mark_kind::pause ? pause.from : pause.to) = time_in_range(mark.time);
    }
    std::erase_if(all, [&](const recording_mark& mark) {
        const time_range& pause = pauses[mark.number];
        return pause.to < range_.from || pause.from >= range_.to;
    });
    return all;
}

std::vector<eventlog_clock_sample> file_reader::required_clock_readings() const {
    const std::vector<eventlog_clock_sample>& all = clock_.pairs();
    const std::vector<std::uint64_t> times_of_marks = sorted_times(marks());
    // Tests the interval from one reading to the next. CLOCK_REALTIME may have been set, so several
    // intervals may meet the range.
    const auto meets_range = [&](std::size_t first) {
        return first + 1 < all.size() && time_in_range(all[first].clock) < range_.to &&
               time_in_range(all[first + 1].clock - 1) >= range_.from;
    };
    const auto has_mark = [&](std::size_t first) {
        return first + 1 < all.size() &&
               has_time_within(times_of_marks, all[first].clock, all[first + 1].clock);
    };
    // The offset of CLOCK_TAI may become smaller within the interval.
    std::vector<std::uint64_t> times_of_offsets;
    for (const clock_offsets& offsets : clock_.offsets()) {
        times_of_offsets.push_back(offsets.clock);
    }
    const auto has_other_offsets = [&](std::size_t first) {
        return has_offsets(range_.clock) && first + 1 < all.size() &&
               has_time_within(times_of_offsets, all[first].clock, all[first + 1].clock);
    };
    const auto converts = [&](std::size_t first) {
        return meets_range(first) || has_mark(first) || has_other_offsets(first);
    };
    std::vector<eventlog_clock_sample> needed;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const bool is_border = i == 0 || i + 1 == all.size();
        if (is_border || converts(i) || converts(i - 1)) {
            needed.push_back(all[i]);
        }
    }
    return needed;
}

void file_reader::reset() {
    walker_ = block_walker(file_, sizeof(file_header), 0);
    clock_ = clock_converter(host_.clock);
    watermarks_.clear();
    providers_.clear();
    schemas_.clear();
    processes_.clear();
    provider_blocks_.clear();
    schema_bytes_ = 0;
    provider_bytes_ = 0;
    other_types_ = 0;
    unreadable_ = 0;
    records_.assign(host_.ring_count, {});
    next_records_.assign(host_.ring_count, 0);
    next_numbers_.assign(host_.ring_count, 0);
    held_.assign(host_.ring_count, 0);
    decoder_.clear();
    losses_.clear();
    notes_ = {};
    marks_.clear();
    end_.reset();
    is_compared_ = false;
}

}  // namespace elog
