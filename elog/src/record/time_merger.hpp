// SPDX-License-Identifier: MIT
//
// Records of several rings in the order of time. Within a ring they are in order already; across
// rings the earliest head goes first. Memory: what has been added and not yet been given out, or
// one run for each ring where runs are fetched as they are needed.
//
// A record that is timed by a clock of its program's own may have any time. Its place is right
// behind the record before it on its ring that is not: there it is given out, so that neither it
// nor what follows it waits for a time that has passed or never comes, and the order of all others
// is what it is without it. Among such records at the same place the earliest goes first.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <queue>
#include <tuple>
#include <vector>

#include "record/records.hpp"

namespace elog {

/// A run with bytes of its own.
struct owned_run {
    std::uint64_t lost_before = 0;
    std::vector<std::uint8_t> bytes;  // whole, sound records, at least one: see check_records
    bool overwritten = false;         // those before: see record_run
    std::uint64_t not_before = 0;  // when they were emitted, on the machine's clock; 0: not known
};

struct merged_record {
    std::uint32_t ring = 0;
    std::uint64_t lost_before = 0;  // on this ring, just before this record
    record_view record{};
    bool overwritten = false;  // those before: see record_run
    std::uint64_t place = 0;   // of a record with a clock of its own: see order_time_of
};

/// Where a record stands in the order of time, on the region's clock: its time, or, if that is by a
/// clock of its program's own, one that it was not emitted before.
[[nodiscard]] constexpr std::uint64_t order_time_of(const merged_record& record) noexcept {
    const eventlog_record& header = record.record.header;
    return has_custom_time(header) ? record.place : header.time;
}

class time_merger {
  public:
    using fetch_run = std::function<std::optional<owned_run>(std::uint32_t ring)>;
    using take_record = std::function<void(const merged_record&)>;

    /// `fetch` is asked for a ring's next run when the ring has none left; it may be empty.
    explicit time_merger(std::uint32_t ring_count, fetch_run fetch = {});

    /// From now on there are that many rings more, behind the others.
    void add_rings(std::uint32_t count);

    /// Adds a run behind those of its ring. Copies it.
    void add(const record_run& run);

    /// Gives out all records whose place is not later than `limit`, in units of the clock, and
    /// those later than `present`: no record can be from the future, and one that says so must not
    /// hold up its ring.
    void merge(std::uint64_t limit, std::uint64_t present, const take_record& take);
    /// Gives out all that is left.
    void merge_rest(const take_record& take) { merge(UINT64_MAX, UINT64_MAX, take); }

    /// The same, one by one: begins to give out all that merge would give out now.
    void begin(std::uint64_t limit, std::uint64_t present);
    /// The next of them, whose bytes are there until the next call of any function; nothing behind
    /// the last one.
    [[nodiscard]] std::optional<merged_record> next();

  private:
    struct stream {
        std::list<owned_run> runs;             // which stay where they are when streams move
        std::span<const std::uint8_t> rest{};  // of runs.front(), when begun
        bool begun = false;
        std::uint64_t last = 0;  // time of the last record taken that is by the machine's clock
    };

    /// In the order in which they are given out: a record's place, its time, and its ring.
    using head = std::tuple<std::uint64_t, std::uint64_t, std::uint32_t>;

    [[nodiscard]] static std::uint64_t order_time_in(const stream& from,
                                                     const eventlog_record& header);
    [[nodiscard]] bool has_head(std::uint32_t ring);
    [[nodiscard]] std::optional<head> due_head(std::uint32_t ring);
    [[nodiscard]] merged_record take_head(std::uint32_t ring);

    std::vector<stream> streams_;
    fetch_run fetch_;

    // Between begin and the last next.
    std::uint64_t limit_ = 0;
    std::uint64_t present_ = 0;
    std::priority_queue<head, std::vector<head>, std::greater<>> heads_;
    std::optional<std::uint32_t> current_;  // the ring of the last one, whose head is not in heads_
};

}  // namespace elog
