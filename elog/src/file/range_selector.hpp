// SPDX-License-Identifier: MIT
//
// Selects, from the index of a file, what file_reader reads for a range of time. Index contents are
// untrusted: wrong values select other blocks, each of which is verified when it is read.
#pragma once

#include <linux/eventlog.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "file/block_contents.hpp"
#include "file/file_reader.hpp"
#include "file/index_chain.hpp"
#include "record/clock_converter.hpp"
#include "record/display_clock.hpp"

namespace elog {

/// Whether one of the times, which are in order, is in [begin, end).
[[nodiscard]] inline bool has_time_within(const std::vector<std::uint64_t>& times,
                                          std::uint64_t begin, std::uint64_t end) noexcept {
    const auto next = std::lower_bound(times.begin(), times.end(), begin);
    return next != times.end() && *next < end;
}

[[nodiscard]] constexpr bool has_offsets(display_clock clock) noexcept {
    return clock == display_clock::boottime || clock == display_clock::tai;
}

[[nodiscard]] constexpr bool follows_realtime(display_clock clock) noexcept {
    return clock == display_clock::realtime || clock == display_clock::tai;
}

/// What is known of the whole file before any section is selected. Not verified.
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
        return may_contain(section, section.head.earliest, section.head.latest);
    }

    /// Whether a section's readings may convert a record of the range: one in the section, or one
    /// in another section that is late or has a custom clock. Or a mark, in the range or not.
    [[nodiscard]] bool needs_readings(const index_section& section) const noexcept {
        const neighbor_readings& near = neighbors_of(section);
        return may_contain(section) || (far_earliest_ < near.after && far_latest_ >= near.before) ||
               has_time_within(hints_.marks, near.before, near.after);
    }

    /// Whether readings that are left out with a section convert one of the times, which are in
    /// order.
    [[nodiscard]] bool lacks_readings(const index_section& section,
                                      const std::vector<std::uint64_t>& times) const noexcept {
        return section.head.clocks != 0 && !needs_readings(section) &&
               has_time_within(times, section.head.first_clock.clock,
                               section.head.last_clock.clock);
    }

    /// The same for records with times in [earliest, latest], of which one may be in the range.
    [[nodiscard]] bool lacks_readings(const index_section& section, std::uint64_t earliest,
                                      std::uint64_t latest) const noexcept {
        const std::uint64_t begin = section.head.first_clock.clock;
        const std::uint64_t end = section.head.last_clock.clock;
        if (section.head.clocks == 0 || earliest >= end || latest < begin ||
            needs_readings(section)) {
            return false;
        }
        return may_contain(section, std::max(earliest, begin), std::min(latest, end - 1));
    }

    /// Whether one block of a section may contain records of the range; `known` has the readings of
    /// the section and the last one before it.
    [[nodiscard]] bool may_contain(const index_section& section, const index_entry& entry,
                                   const clock_converter& known) const noexcept {
        const std::vector<eventlog_clock_sample>& readings = known.pairs();
        // All readings around the block's records: CLOCK_REALTIME may have been set between two of
        // them.
        const auto later = [](std::uint64_t time, const auto& pair) { return time < pair.clock; };
        auto reading = std::upper_bound(readings.begin(), readings.end(), entry.earliest, later);
        reading -= reading == readings.begin() ? 0 : 1;
        constexpr double infinite = std::numeric_limits<double>::infinity();
        bounds offsets{infinite, -infinite};
        std::size_t left = readings_of_block_max;
        do {
            if (reading == readings.end() || left-- == 0) {
                return may_contain(section);
            }
            const auto offset = static_cast<double>(
                static_cast<std::int64_t>(reading->realtime - reading->monotonic));
            offsets.least = std::min(offsets.least, offset);
            offsets.most = std::max(offsets.most, offset);
            ++reading;
        } while (reading != readings.end() && reading->clock <= entry.latest);
        return may_contain(
            section, entry.earliest, entry.latest,
            {monotonic_at(entry.earliest, known).least, monotonic_at(entry.latest, known).most},
            offsets);
    }

  private:
    // Times of blocks are converted with only a part of the readings. The margin on both sides is
    // this constant plus a thousandth of the time between two readings, twice the largest drift of
    // the clocks.
    static constexpr double slack = 1e7;
    static constexpr double slack_rate = 1e-3;
    // More readings than a block has in its time. Of a block with more, the section's times count,
    // so that a hostile index does not cost readings times blocks.
    static constexpr std::size_t readings_of_block_max = 256;

    /// In double, because values of a damaged file must not overflow.
    struct bounds {
        double least = 0;
        double most = 0;
    };

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

    /// CLOCK_MONOTONIC at a time, according to the first and last readings of all sections. Between
    /// two of them the rate of a TSC is unknown: it may go on while the machine sleeps.
    [[nodiscard]] bounds monotonic_at(std::uint64_t time) const noexcept {
        const std::vector<eventlog_clock_sample>& readings = clock_.pairs();
        const auto next = std::upper_bound(
            readings.begin(), readings.end(), time,
            [](std::uint64_t wanted, const auto& pair) { return wanted < pair.clock; });
        if (clock_.clock() == EVENTLOG_CLOCK_TSC && next != readings.begin() &&
            next != readings.end()) {
            return {to_double((next - 1)->monotonic), to_double(next->monotonic)};
        }
        const auto found = static_cast<double>(clock_.monotonic(time));
        return {found, found};
    }

    /// The same, exactly if the time is between consecutive readings.
    [[nodiscard]] bounds monotonic_at(std::uint64_t time,
                                      const clock_converter& known) const noexcept {
        const std::vector<eventlog_clock_sample>& readings = known.pairs();
        if (readings.empty() || time < readings.front().clock || time > readings.back().clock) {
            return monotonic_at(time);
        }
        const auto found = static_cast<double>(known.monotonic(time));
        return {found, found};
    }

    /// As clock_converter takes a reading, which may be damaged.
    [[nodiscard]] static double to_double(std::uint64_t reading) noexcept {
        return static_cast<double>(static_cast<std::int64_t>(reading));
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

    /// Whether records with these times, in units of the host's clock, may be in the range. Outside
    /// of those of the section's records, only between its readings.
    [[nodiscard]] bool may_contain(const index_section& section, std::uint64_t earliest,
                                   std::uint64_t latest) const noexcept {
        return may_contain(section, earliest, latest,
                           {monotonic_at(earliest).least, monotonic_at(latest).most},
                           {static_cast<double>(section.head.offset_min),
                            static_cast<double>(section.head.offset_max)});
    }

    /// Whether records with these times, in units of the host's clock and of CLOCK_MONOTONIC, and
    /// these differences between CLOCK_REALTIME and CLOCK_MONOTONIC may be in the range.
    [[nodiscard]] bool may_contain(const index_section& section, std::uint64_t earliest,
                                   std::uint64_t latest, const bounds& monotonic,
                                   const bounds& offsets) const noexcept {
        if (earliest > latest) {
            return false;
        }
        const bool far = is_far(section, earliest, latest);
        const double more = slack + (far ? span_ : span_of(section)) * slack_rate;
        double begin = monotonic.least - more + hints_.offset_min;
        double end = monotonic.most + more + hints_.offset_max;
        if (follows_realtime(range_.clock)) {
            begin += far ? std::min(offsets.least, offset_min_) : offsets.least;
            end += far ? std::max(offsets.most, offset_max_) : offsets.most;
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

}  // namespace elog
