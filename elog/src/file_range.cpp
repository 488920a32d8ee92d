// SPDX-License-Identifier: MIT
//
// Reading a part of the time of an .elog file: with the index, only the blocks that may hold
// records of that time, those that say what records mean, and the readings of the clocks that
// convert their times exactly as if all of the file had been read.
#include <algorithm>
#include <limits>
#include <span>

#include "file_reader.hpp"

namespace elog {
namespace {

// The times of blocks are converted with a part of the readings: that much is added on both sides,
// and a thousandth of the time between two readings, twice as much as clocks are made to drift.
constexpr double slack = 1e7;
constexpr double slack_rate = 1e-3;

eventlog_clock_pair pair_of(const clock_block& clock) noexcept {
    return {clock.clock, clock.monotonic, clock.realtime};
}

}  // namespace

/// Says, a little generously, which blocks may hold records of the range.
class range_selector {
  public:
    range_selector(const time_range& range, const std::vector<index_section>& sections,
                   std::uint32_t clock)
        : range_(range), clock_(clock) {
        for (const index_section& section : sections) {
            if (section.head.clocks != 0) {
                clock_.add(pair_of(section.head.first_clock));
                clock_.add(pair_of(section.head.last_clock));
            }
        }
    }

    /// Whether a section may hold records of the range.
    [[nodiscard]] bool wants(const index_section& section) const noexcept {
        return wants(section, section.head.earliest, section.head.latest,
                     static_cast<double>(section.head.offset_min),
                     static_cast<double>(section.head.offset_max));
    }

    /// The same of one of its blocks, with the readings of the section and the one before it.
    [[nodiscard]] bool wants(const index_section& section, const index_entry& entry,
                             std::span<const eventlog_clock_pair> readings) const noexcept {
        // Those between which the records lie: CLOCK_REALTIME may have been set in between.
        const auto later = [](std::uint64_t time, const auto& pair) { return time < pair.clock; };
        auto reading = std::upper_bound(readings.begin(), readings.end(), entry.earliest, later);
        reading -= reading == readings.begin() ? 0 : 1;
        double least = std::numeric_limits<double>::infinity();
        double most = -least;
        do {
            if (reading == readings.end()) {
                return wants(section);
            }
            const auto offset = static_cast<double>(
                static_cast<std::int64_t>(reading->realtime - reading->monotonic));
            least = std::min(least, offset);
            most = std::max(most, offset);
            ++reading;
        } while (reading != readings.end() && reading->clock <= entry.latest);
        return wants(section, entry.earliest, entry.latest, least, most);
    }

  private:
    /// Records of those times, in units of the host's clock, and differences of the other two.
    [[nodiscard]] bool wants(const index_section& section, std::uint64_t earliest,
                             std::uint64_t latest, double offset_min,
                             double offset_max) const noexcept {
        if (earliest > latest) {
            return false;
        }
        // In double: nothing in a damaged file may overflow.
        const index_block& head = section.head;
        const double span = static_cast<double>(head.last_clock.monotonic) -
                            static_cast<double>(head.first_clock.monotonic);
        const double more = slack + std::max(span, 0.0) * slack_rate;
        const double begin = static_cast<double>(clock_.monotonic(earliest)) + offset_min - more;
        const double end = static_cast<double>(clock_.monotonic(latest)) + offset_max + more;
        // Of a record that claims a time in the far future, both are behind all that is possible.
        const bool is_early_enough =
            range_.to == INT64_MAX || begin < static_cast<double>(range_.to);
        return is_early_enough && end >= static_cast<double>(range_.from);
    }

    const time_range& range_;
    clock_table clock_;
};

bool file_reader::take_hosts() {
    std::uint64_t offset = sizeof(file_header);
    for (int copy = 0; copy < 2; ++copy) {
        const std::optional<block_place> place = file_.block_at(offset);
        if (!place || place->type() != block_type::host) {
            break;
        }
        take_block(*place);
        offset = place->end();
    }
    return has_host_;
}

/// Of a section, what says what records mean, and the readings of the clocks if it is wanted. False
/// if something else is there.
bool file_reader::take_others(const std::vector<listed_block>& blocks, bool is_wanted) {
    for (const listed_block& listed : blocks) {
        const block_type type = listed.type();
        const bool is_needed = (type == block_type::clock && is_wanted) ||
                               type == block_type::provider || type == block_type::loss ||
                               type == block_type::offsets;
        if (!is_needed) {
            continue;
        }
        const std::optional<block_place> place = file_.block_at(listed.offset);
        if (!place || place->header.number != listed.number || place->type() != type) {
            return false;
        }
        take_block(*place);
    }
    return true;
}

bool file_reader::take_listed(const index_section& section, const range_selector& wanted) {
    const bool is_wanted = wanted.wants(section);
    const std::size_t readings_before = clock_.pairs().size();
    const std::optional<std::vector<listed_block>> blocks = read_entries(file_, section);
    if (!blocks || !take_others(*blocks, is_wanted)) {
        return false;
    }
    const std::span<const eventlog_clock_pair> readings =
        std::span(clock_.pairs()).subspan(readings_before - (readings_before == 0 ? 0 : 1));
    for (const listed_block& listed : *blocks) {
        const index_entry& entry = listed.entry;
        if (!is_wanted || listed.type() != block_type::records ||
            (entry.flags & ~block_flags) != 0 || !wanted.wants(section, entry, readings)) {
            continue;
        }
        if (entry.ring >= records_.size()) {
            return false;
        }
        records_[entry.ring].push_back({listed.offset, listed.number});
    }
    return true;
}

bool file_reader::take_section(const index_section& section, const range_selector& wanted) {
    const index_block& head = section.head;
    if (!wanted.wants(section) && head.clocks != 0) {
        // The ones on both sides of a wanted section, and the first and the last of all.
        clock_.add(pair_of(head.first_clock));
        clock_.add(pair_of(head.last_clock));
    }
    if ((wanted.wants(section) || head.others != 0) && !take_listed(section, wanted)) {
        file_.report("the index at {} lists other blocks than there are; the file is read without "
                     "it",
                     section.place.offset);
        return false;
    }
    return true;
}

bool file_reader::scan_by_index() {
    const std::optional<std::vector<index_section>> sections = read_index_chain(file_);
    if (!sections || !take_hosts()) {
        forget();
        return false;
    }
    const range_selector wanted(range_, *sections, host_.clock);
    for (const index_section& section : *sections) {
        if (!take_section(section, wanted)) {
            forget();
            return false;
        }
    }
    // What no index lists yet.
    const block_place& last = sections->back().place;
    walker_ = block_walker(file_, last.end(), last.header.number + 1);
    take_blocks();
    return true;
}

void file_reader::forget() {
    host_ = {};
    has_host_ = false;
    clock_ = clock_table();
    complete_ = 0;
    providers_.clear();
    schema_bytes_ = 0;
    records_.clear();
    losses_.clear();
    end_.reset();
}

}  // namespace elog
