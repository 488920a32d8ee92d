// SPDX-License-Identifier: MIT
//
// The part of file_reader that reads a range of time with the help of the index: the blocks that
// may contain records of the range, the blocks with metadata, and the clock readings that convert
// the records' times exactly as a full scan would.
#include <algorithm>
#include <limits>
#include <span>
#include <unordered_map>

#include "file/block_contents.hpp"
#include "file/file_reader.hpp"

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

// Times of blocks are converted with only a part of the readings. The margin on both sides is this
// constant plus a thousandth of the time between two readings, twice the largest drift of the
// clocks.
constexpr double slack = 1e7;
constexpr double slack_rate = 1e-3;

/// The head of an uncompressed payload, unverified.
template <class Block>
std::optional<Block> peek_head(block_file& file, std::uint64_t offset) {
    const std::optional<block_location> place = file.block_at(offset);
    return place && place->header.flags == 0 ? block_head<Block>(file.peek(*place, sizeof(Block)))
                                             : std::nullopt;
}

/// The members that tell whether a block can be read.
block_header header_of(const listed_block& listed) noexcept {
    block_header header{};
    header.type = listed.entry.type;
    header.flags = listed.entry.flags;
    return header;
}

/// Whether one of the times, which are in order, is in [begin, end).
bool has_time_within(const std::vector<std::uint64_t>& times, std::uint64_t begin,
                     std::uint64_t end) noexcept {
    const auto next = std::lower_bound(times.begin(), times.end(), begin);
    return next != times.end() && *next < end;
}

bool has_offsets(display_clock clock) noexcept {
    return clock == display_clock::boottime || clock == display_clock::tai;
}

bool follows_realtime(display_clock clock) noexcept {
    return clock == display_clock::realtime || clock == display_clock::tai;
}

}  // namespace

/// What is known of the whole file before any section is selected. Not verified: wrong values only
/// select more.
struct range_hints {
    /// The smallest and the largest offset of the range's clock from CLOCK_MONOTONIC or
    /// CLOCK_REALTIME.
    double offset_min = std::numeric_limits<double>::infinity();
    double offset_max = -std::numeric_limits<double>::infinity();
    std::vector<std::uint64_t> marks;  // their times, in order
};

/// Selects the blocks that may contain records of the range, and the clock readings that convert
/// these. The selection may be too large, never too small.
class range_selector {
  public:
    /// `has_more`: there are blocks that no section lists, which may contain more readings. The
    /// sections and the hints must outlive the selector.
    range_selector(const time_range& range, const std::vector<index_section>& sections,
                   const range_hints& hints, std::uint32_t clock, bool has_more)
        : range_(range), sections_(sections), hints_(hints), clock_(clock), has_more_(has_more) {
        note_readings();
        note_far_sections();
    }

    /// Whether a section may contain records of the range.
    [[nodiscard]] bool may_contain(const index_section& section) const noexcept {
        return may_contain(section, section.head.earliest, section.head.latest,
                           static_cast<double>(section.head.offset_min),
                           static_cast<double>(section.head.offset_max));
    }

    /// Whether a section's readings may convert a record of the range: one in the section, or one
    /// in another section that is late or has a custom clock. Or a mark, in the range or not.
    [[nodiscard]] bool needs_readings(const index_section& section) const noexcept {
        const neighbor_readings& near = neighbors_of(section);
        return may_contain(section) || (far_earliest_ < near.after && far_latest_ >= near.before) ||
               has_time_within(hints_.marks, near.before, near.after);
    }

    /// Whether one block of a section may contain records of the range; `readings` are those of the
    /// section and the last one before it.
    [[nodiscard]] bool may_contain(const index_section& section, const index_entry& entry,
                                   std::span<const eventlog_clock_sample> readings) const noexcept {
        // All readings around the block's records: CLOCK_REALTIME may have been set between two of
        // them.
        const auto later = [](std::uint64_t time, const auto& pair) { return time < pair.clock; };
        auto reading = std::upper_bound(readings.begin(), readings.end(), entry.earliest, later);
        reading -= reading == readings.begin() ? 0 : 1;
        double least = std::numeric_limits<double>::infinity();
        double most = -least;
        do {
            if (reading == readings.end()) {
                return may_contain(section);
            }
            const auto offset = static_cast<double>(
                static_cast<std::int64_t>(reading->realtime - reading->monotonic));
            least = std::min(least, offset);
            most = std::max(most, offset);
            ++reading;
        } while (reading != readings.end() && reading->clock <= entry.latest);
        return may_contain(section, entry.earliest, entry.latest, least, most);
    }

  private:
    /// Readings of the host's clock on both sides of a section. The section's own readings and
    /// these convert times in [before, after). Records may have any time: a record that was written
    /// late is earlier than readings before it, back to their watermark.
    struct neighbor_readings {
        std::uint64_t before = 0;
        std::uint64_t after = UINT64_MAX;
    };

    [[nodiscard]] const neighbor_readings& neighbors_of(
        const index_section& section) const noexcept {
        return neighbor_readings_[static_cast<std::size_t>(&section - sections_.data())];
    }

    [[nodiscard]] static double span_of(const index_section& section) noexcept {
        return std::max(0.0, static_cast<double>(section.head.last_clock.monotonic) -
                                 static_cast<double>(section.head.first_clock.monotonic));
    }

    void note_readings() {
        neighbor_readings_.resize(sections_.size());
        std::uint64_t before = 0;
        for (std::size_t i = 0; i < sections_.size(); ++i) {
            const index_block& head = sections_[i].head;
            neighbor_readings_[i].before = before;
            if (head.clocks == 0) {
                continue;
            }
            clock_.add(sample_of(head.first_clock));
            clock_.add(sample_of(head.last_clock));
            before = head.last_clock.clock;
            first_reading_ = std::min<std::uint64_t>(first_reading_, head.first_clock.clock);
            last_reading_ = std::max<std::uint64_t>(last_reading_, before);
            offset_min_ = std::min(offset_min_, static_cast<double>(head.offset_min));
            offset_max_ = std::max(offset_max_, static_cast<double>(head.offset_max));
            span_ = std::max(span_, span_of(sections_[i]));
        }
        std::uint64_t after = UINT64_MAX;
        for (std::size_t i = sections_.size(); i-- != 0;) {
            neighbor_readings_[i].after = after;
            after = sections_[i].head.clocks == 0 ? after : sections_[i].head.first_clock.clock;
        }
    }

    void note_far_sections() {
        for (const index_section& section : sections_) {
            const index_block& head = section.head;
            if (is_far(section, head.earliest, head.latest) && may_contain(section)) {
                far_earliest_ = std::min<std::uint64_t>(far_earliest_, head.earliest);
                far_latest_ = std::max<std::uint64_t>(far_latest_, head.latest);
            }
        }
    }

    [[nodiscard]] bool is_far(const index_section& section, std::uint64_t earliest,
                              std::uint64_t latest) const noexcept {
        const neighbor_readings& near = neighbors_of(section);
        return earliest <= latest && (earliest < near.before || latest >= near.after);
    }

    /// Whether records with these times, in units of the host's clock, and these differences
    /// between CLOCK_REALTIME and CLOCK_MONOTONIC may be in the range.
    [[nodiscard]] bool may_contain(const index_section& section, std::uint64_t earliest,
                                   std::uint64_t latest, double offset_min,
                                   double offset_max) const noexcept {
        if (earliest > latest) {
            return false;
        }
        // In double, because values of a damaged file must not overflow.
        const bool far = is_far(section, earliest, latest);
        const double more = slack + (far ? span_ : span_of(section)) * slack_rate;
        double begin = static_cast<double>(clock_.monotonic(earliest)) - more + hints_.offset_min;
        double end = static_cast<double>(clock_.monotonic(latest)) + more + hints_.offset_max;
        if (follows_realtime(range_.clock)) {
            begin += far ? std::min(offset_min, offset_min_) : offset_min;
            end += far ? std::max(offset_max, offset_max_) : offset_max;
        }
        if (has_more_) {
            // Unknown readings convert times after the last known one, perhaps to earlier times,
            // and define the rate before the first one.
            constexpr double any = std::numeric_limits<double>::infinity();
            const bool is_behind = latest >= last_reading_;
            begin = is_behind || earliest < first_reading_ ? -any : begin;
            end = is_behind || latest < first_reading_ ? any : end;
        }
        // A record with a time in the far future has both bounds above any possible range.
        const bool is_early_enough =
            range_.to == INT64_MAX || begin < static_cast<double>(range_.to);
        return is_early_enough && end >= static_cast<double>(range_.from);
    }

    const time_range& range_;
    const std::vector<index_section>& sections_;
    const range_hints& hints_;
    clock_converter clock_;
    bool has_more_;
    std::vector<neighbor_readings> neighbor_readings_;  // by section
    // Over all sections.
    std::uint64_t first_reading_ = UINT64_MAX;
    std::uint64_t last_reading_ = 0;
    double offset_min_ = std::numeric_limits<double>::infinity();
    double offset_max_ = -std::numeric_limits<double>::infinity();
    double span_ = 0;
    // Over the records of the range that are outside of their section's readings.
    std::uint64_t far_earliest_ = UINT64_MAX;
    std::uint64_t far_latest_ = 0;
};

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
    const std::span<const eventlog_clock_sample> readings =
        std::span(clock_.pairs()).subspan(readings_before - (readings_before == 0 ? 0 : 1));
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

void file_reader::add_hint(const listed_block& listed, range_hints& hints) {
    if (listed.type() == block_type::note) {
        const auto note = peek_head<note_block>(file_, listed.offset);
        if (note && is_of_pause(*note)) {
            hints.marks.push_back(note->values[0]);
        }
    } else if (listed.type() == block_type::offsets && has_offsets(range_.clock)) {
        if (const auto offsets = peek_head<offsets_block>(file_, listed.offset)) {
            const auto offset = static_cast<double>(
                range_.clock == display_clock::tai ? offsets->tai : offsets->boottime);
            hints.offset_min = std::min(hints.offset_min, offset);
            hints.offset_max = std::max(hints.offset_max, offset);
        }
    }
}

/// nullopt if a section is unsound.
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
            add_hint(listed, hints);
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
    return true;
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
    std::vector<std::uint64_t> times_of_marks;
    for (const recording_mark& mark : marks()) {
        times_of_marks.push_back(mark.time);
    }
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
    const auto converts = [&](std::size_t first) { return meets_range(first) || has_mark(first); };
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
}

}  // namespace elog
