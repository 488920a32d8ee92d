// SPDX-License-Identifier: MIT
//
// Reading a part of the time of an .elog file: with the index, only the blocks that may hold
// records of that time, those that say what records mean, and the readings of the clocks that
// convert their times exactly as if all of the file had been read.
#include <algorithm>
#include <limits>
#include <span>

#include "file/file_reader.hpp"

namespace elog {
namespace {

// The times of blocks are converted with a part of the readings: that much is added on both sides,
// and a thousandth of the time between two readings, twice as much as clocks are made to drift.
constexpr double slack = 1e7;
constexpr double slack_rate = 1e-3;

eventlog_clock_sample pair_of(const clock_block& clock) noexcept {
    return {clock.clock, clock.monotonic, clock.realtime};
}

}  // namespace

/// Says, a little generously, which blocks may hold records of the range, and which readings of the
/// clocks convert these.
class range_selector {
  public:
    /// `has_more`: blocks that no section lists, perhaps with more readings. The sections must
    /// outlive it.
    range_selector(const time_range& range, const std::vector<index_section>& sections,
                   std::uint32_t clock, bool has_more)
        : range_(range), sections_(sections), clock_(clock), has_more_(has_more) {
        note_readings();
        note_far_sections();
    }

    /// Whether a section may hold records of the range.
    [[nodiscard]] bool may_contain(const index_section& section) const noexcept {
        return may_contain(section, section.head.earliest, section.head.latest,
                           static_cast<double>(section.head.offset_min),
                           static_cast<double>(section.head.offset_max));
    }

    /// Whether a section's readings may convert a record of the range, its own or one far from its
    /// place.
    [[nodiscard]] bool needs_readings(const index_section& section) const noexcept {
        const neighbor_readings& near = neighbors_of(section);
        return may_contain(section) || (far_earliest_ < near.after && far_latest_ >= near.before);
    }

    /// The same of one of its blocks, with the readings of the section and the one before it.
    [[nodiscard]] bool may_contain(const index_section& section, const index_entry& entry,
                                   std::span<const eventlog_clock_sample> readings) const noexcept {
        // Those between which the records lie: CLOCK_REALTIME may have been set in between.
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
    /// On the host's clock, readings on both sides of a section: what is by the machine's clock is
    /// not earlier, and is earlier than that. What a program has timed by its own may be far away.
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
            clock_.add(pair_of(head.first_clock));
            clock_.add(pair_of(head.last_clock));
            const clock_block& last = head.last_clock;
            before = last.watermark == 0 ? last.clock : std::min(last.watermark, last.clock);
            first_reading_ = std::min<std::uint64_t>(first_reading_, head.first_clock.clock);
            last_reading_ = std::max<std::uint64_t>(last_reading_, last.clock);
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

    /// Records of those times, in units of the host's clock, and differences of the other two.
    [[nodiscard]] bool may_contain(const index_section& section, std::uint64_t earliest,
                                   std::uint64_t latest, double offset_min,
                                   double offset_max) const noexcept {
        if (earliest > latest) {
            return false;
        }
        // In double: nothing in a damaged file may overflow.
        const bool far = is_far(section, earliest, latest);
        const double more = slack + (far ? span_ : span_of(section)) * slack_rate;
        double begin = static_cast<double>(clock_.monotonic(earliest)) - more +
                       (far ? std::min(offset_min, offset_min_) : offset_min);
        double end = static_cast<double>(clock_.monotonic(latest)) + more +
                     (far ? std::max(offset_max, offset_max_) : offset_max);
        if (has_more_) {
            // Readings that are not known yet convert times behind the last one here, perhaps to
            // earlier ones, and say how fast time passed before the first.
            constexpr double any = std::numeric_limits<double>::infinity();
            const bool is_behind = latest >= last_reading_;
            begin = is_behind || earliest < first_reading_ ? -any : begin;
            end = is_behind || latest < first_reading_ ? any : end;
        }
        // Of a record that claims a time in the far future, both are behind all that is possible.
        const bool is_early_enough =
            range_.to == INT64_MAX || begin < static_cast<double>(range_.to);
        return is_early_enough && end >= static_cast<double>(range_.from);
    }

    const time_range& range_;
    const std::vector<index_section>& sections_;
    clock_converter clock_;
    bool has_more_;
    std::vector<neighbor_readings> neighbor_readings_;  // by section
    // Of all sections.
    std::uint64_t first_reading_ = UINT64_MAX;
    std::uint64_t last_reading_ = 0;
    double offset_min_ = std::numeric_limits<double>::infinity();
    double offset_max_ = -std::numeric_limits<double>::infinity();
    double span_ = 0;
    // Of records of the range that may be far from their place.
    std::uint64_t far_earliest_ = UINT64_MAX;
    std::uint64_t far_latest_ = 0;
};

bool file_reader::read_hosts() {
    std::uint64_t offset = sizeof(file_header);
    for (int copy = 0; copy < 2; ++copy) {
        const std::optional<block_location> place = file_.block_at(offset);
        if (!place || place->type() != block_type::host) {
            break;
        }
        read_block(*place);
        offset = place->end();
    }
    return has_host_;
}

/// Of a section, what says what records mean, and the readings of the clocks if they are needed.
/// False if something else is there.
bool file_reader::read_metadata_blocks(const std::vector<listed_block>& blocks,
                                       bool needs_readings) {
    for (const listed_block& listed : blocks) {
        const block_type type = listed.type();
        const bool is_needed = (type == block_type::clock && needs_readings) ||
                               type == block_type::provider || type == block_type::loss ||
                               type == block_type::offsets;
        if (!is_needed) {
            continue;
        }
        const std::optional<block_location> place = file_.block_at(listed.offset);
        if (!place || place->header.number != listed.number || place->type() != type) {
            return false;
        }
        read_block(*place);
    }
    return true;
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
        if (!is_wanted || listed.type() != block_type::records ||
            (entry.flags & ~block_flags) != 0 || !wanted.may_contain(section, entry, readings)) {
            continue;
        }
        if (entry.ring >= records_.size()) {
            return false;
        }
        records_[entry.ring].push_back({listed.offset, listed.number});
    }
    return true;
}

bool file_reader::read_section_blocks(const index_section& section, const range_selector& wanted) {
    const index_block& head = section.head;
    const bool is_needed = wanted.needs_readings(section);
    if (!is_needed && head.clocks != 0) {
        // The ones on both sides of a wanted section, and the first and the last of all.
        clock_.add(pair_of(head.first_clock));
        clock_.add(pair_of(head.last_clock));
        add_watermark(section.place.header.number, head.last_clock.watermark);
    }
    if ((is_needed || head.others != 0) && !read_listed_blocks(section, wanted)) {
        file_.report("the index at {} lists other blocks than there are; the file is read without "
                     "it",
                     section.place.offset);
        return false;
    }
    return true;
}

bool file_reader::scan_using_index() {
    const std::optional<std::vector<index_section>> sections = read_index_chain(file_);
    if (!sections || !read_hosts()) {
        reset();
        return false;
    }
    const bool has_more = sections->back().place.end() + end_block_size < file_.size();
    const range_selector wanted(range_, *sections, host_.clock, has_more);
    for (const index_section& section : *sections) {
        if (!read_section_blocks(section, wanted)) {
            reset();
            return false;
        }
    }
    // What no index lists yet.
    const block_location& last = sections->back().place;
    walker_ = block_walker(file_, last.end(), last.header.number + 1);
    scan_blocks();
    return true;
}

std::vector<eventlog_clock_sample> file_reader::required_clock_readings() const {
    const std::vector<eventlog_clock_sample>& all = clock_.pairs();
    // Between that one and the next. CLOCK_REALTIME may have been set, so that the range lies at
    // several places.
    const auto meets_range = [&](std::size_t first) {
        return first + 1 < all.size() && clock_.realtime(all[first].clock) < range_.to &&
               clock_.realtime(all[first + 1].clock - 1) >= range_.from;
    };
    std::vector<eventlog_clock_sample> needed;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const bool is_border = i == 0 || i + 1 == all.size();
        if (is_border || meets_range(i) || meets_range(i - 1)) {
            needed.push_back(all[i]);
        }
    }
    return needed;
}

void file_reader::reset() {
    host_ = {};
    has_host_ = false;
    clock_ = clock_converter();
    watermarks_.clear();
    providers_.clear();
    schema_bytes_ = 0;
    records_.clear();
    losses_.clear();
    end_.reset();
}

}  // namespace elog
