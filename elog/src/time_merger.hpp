// SPDX-License-Identifier: MIT
//
// Records of several rings in the order of time. Within a ring they are in order already; across
// rings the earliest head goes first. Memory: what has been added and not yet been given out, or
// one run for each ring where runs are fetched as they are needed.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "records.hpp"

namespace elog {

/// A run with bytes of its own.
struct owned_run {
    std::uint64_t lost_before = 0;
    std::vector<std::uint8_t> bytes;  // whole, sound records, at least one: see check_records
    bool overwritten = false;         // those before: see record_run
};

struct merged_record {
    std::uint32_t ring = 0;
    std::uint64_t lost_before = 0;  // on this ring, just before this record
    record_view record{};
    bool overwritten = false;  // those before: see record_run
};

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

    /// Gives out all records not later than `limit`, in units of the clock, and those later than
    /// `present`: no record can be from the future, and one that says so must not hold up its ring.
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
    };

    using head = std::pair<std::uint64_t, std::uint32_t>;  // a record's time, and its ring

    [[nodiscard]] std::optional<std::uint64_t> head_time(std::uint32_t ring);
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
