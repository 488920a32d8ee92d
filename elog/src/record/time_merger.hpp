// SPDX-License-Identifier: MIT
//
// Merges the records of several rings into the order of time.
//
// Within a ring records are in order already; across rings the earliest head is next. Memory: the
// runs that were added and not yet returned, or one run for each ring if runs are fetched on
// demand.
//
// A record with a custom clock may have any time. Its place is directly behind the record before it
// on its ring that has none: there it is returned. Neither it nor its followers wait for a time
// that has passed or is never reached, and it does not change the order of the other records. Of
// such records at one place the earliest is next.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <queue>
#include <tuple>
#include <vector>

#include "record/loss.hpp"
#include "record/ring_records.hpp"

namespace elog {

/// A run that owns its bytes.
struct owned_run {
    std::uint64_t lost_before = 0;
    std::vector<std::uint8_t> bytes;  // at least one record, all passed by check_records
    bool overwritten = false;         // those of lost_before: see record_run
    std::uint64_t not_before = 0;  // earliest time of emission, on the region's clock; 0: unknown
    std::uint32_t cpu = 0;         // of the ring
    std::uint64_t context = 0;     // as in record_run, with the next one
    const event_numbers* events = nullptr;
    // The clock cannot go back, so a record with an earlier time counts as one with a custom clock.
    bool is_ordered = false;

    [[nodiscard]] run_reader records() const noexcept {
        return run_reader(bytes, cpu, context, events);
    }
};

struct merged_record {
    std::uint32_t ring = 0;
    std::uint64_t lost_before = 0;  // on this ring, directly before this record
    record_view record{};
    bool overwritten = false;  // those of lost_before: see record_run
    std::uint64_t place = 0;   // of a record with a custom clock: see order_time_of
};

/// A record's position in the order of time, on the region's clock: its time, or, if that is of a
/// custom clock, a time before which it was not emitted.
[[nodiscard]] constexpr std::uint64_t order_time_of(const merged_record& record) noexcept {
    return has_custom_time(record.record) ? record.place : record.record.time;
}

/// The events that are missing directly before the record on its ring.
[[nodiscard]] constexpr missing_count missing_before(const merged_record& record) noexcept {
    return record.overwritten ? missing_count{0, record.lost_before}
                              : missing_count{record.lost_before, 0};
}

class time_merger {
  public:
    using fetch_run = std::function<std::optional<owned_run>(std::uint32_t ring)>;
    using take_record = std::function<void(const merged_record&)>;

    /// Calls `fetch`, which may be empty, for a ring's next run when the ring has none left.
    explicit time_merger(std::uint32_t ring_count, fetch_run fetch = {});

    /// Adds `count` rings behind the existing ones.
    void add_rings(std::uint32_t count);

    /// Appends a copy of the run to those of its ring.
    void add(const record_run& run);
    /// Bytes of the runs that are held.
    [[nodiscard]] std::uint64_t held_bytes() const noexcept { return held_bytes_; }

    /// Passes all records whose place is not later than `limit`, and those later than `present`: no
    /// record can be from the future, and one that claims to must not block its ring.
    void merge(std::uint64_t limit, std::uint64_t present, const take_record& take);
    /// Passes all remaining records.
    void merge_rest(const take_record& take) { merge(UINT64_MAX, UINT64_MAX, take); }

    /// The same as an iteration: begins to return the records that merge would pass.
    void begin(std::uint64_t limit, std::uint64_t present);
    /// The next record; nullopt behind the last one. Its bytes are valid until the next call of any
    /// function.
    [[nodiscard]] std::optional<merged_record> next();

  private:
    struct stream {
        std::list<owned_run> runs;  // a list: `rest` stays valid when streams move
        run_reader rest{};          // of runs.front(), when begun
        bool begun = false;
        bool has_next = false;  // the next record of `rest` is in `next`
        bool is_first = false;  // `next` is the first record of runs.front()
        record_view next{};
        std::uint64_t last = 0;  // time of the last returned record without a custom clock
    };

    /// Sort key of the records: place, time, ring.
    using head = std::tuple<std::uint64_t, std::uint64_t, std::uint32_t>;

    [[nodiscard]] static std::uint64_t place_of_head(const stream& from);
    [[nodiscard]] bool load_head(std::uint32_t ring);
    [[nodiscard]] std::optional<head> due_head(std::uint32_t ring);
    [[nodiscard]] merged_record take_head(std::uint32_t ring);

    std::vector<stream> streams_;
    fetch_run fetch_;
    std::uint64_t held_bytes_ = 0;

    // Valid between begin and the last next.
    std::uint64_t limit_ = 0;
    std::uint64_t present_ = 0;
    std::priority_queue<head, std::vector<head>, std::greater<>> heads_;
    std::optional<std::uint32_t> current_;  // ring of the last record; its head is not in heads_
};

}  // namespace elog
