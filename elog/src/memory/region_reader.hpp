// SPDX-License-Identifier: MIT
//
// Reads records and providers from a subscription's region while applications write to it.
//
// - Writers may be broken or hostile: all data is checked on a private copy before it is used.
// - Nothing is accessed through a mapping, because the file may be truncated at any moment
//   (region_accessor.hpp). The words that the kernel accesses through the mapping are in memory
//   that the owner of the region has reserved, or in provider entries that are ready; elsewhere
//   there may be no memory.
// - With producer_policy::wait the reader releases drained buffers. With never_wait it stores
//   nothing, and a copy counts only if the buffer has kept its generation meanwhile.
//
// One thread uses it.
#pragma once

#include <linux/eventlog.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "memory/count_limit.hpp"
#include "memory/provider_table.hpp"
#include "memory/region_accessor.hpp"
#include "memory/ring_controls.hpp"
#include "record/event_numbers.hpp"
#include "record/recording_summary.hpp"
#include "record/region_view.hpp"
#include "record/ring_records.hpp"
#include "ring/region.hpp"
#include "schema/provider_schema.hpp"

namespace elog {

/// Whether producers wait until the reader has released a buffer.
enum class producer_policy {
    wait,        // this process owns the subscription, which is in discard mode
    never_wait,  // overwrite mode or an observer: nothing is stored in the region
};

[[nodiscard]] inline producer_policy producer_policy_of(const eventlog_region& header) noexcept {
    return eventlog::core::overwrites(header) ? producer_policy::never_wait : producer_policy::wait;
}

/// Throws user_error if the file of the region has been truncated, in the mapped part or behind it.
/// Without this check a reader that waits for events would not notice, because no more arrive.
void check_not_truncated(const region_view& source);

/// All member functions throw user_error if the file has been truncated.
class region_reader {
  public:
    /// The file must stay open as long as this object lives.
    region_reader(const region_view& source, producer_policy mode);

    using run_handler = std::function<void(const record_run&)>;

    /// Passes on all records since the last call, ring by ring, and releases drained buffers.
    /// With never_wait, a reader that is late finds the oldest records overwritten; their number is
    /// in the next run. The bytes are valid only during the call of `take`, the event numbers as
    /// long as this object lives. Providers of records must be read (read_new_providers) inside
    /// `take` or after it, not before.
    void poll(const run_handler& take);

    /// Passes on the providers that have attached since the last call.
    void read_new_providers(const provider_table::handler& take);

    /// Sleeps until a buffer has been switched or the time is over. Returns whether a buffer should
    /// be read before the next poll is due. For producer_policy::wait only.
    bool wait(std::chrono::nanoseconds at_most);

    /// After the subscription has ended and poll() has been called: returns each ring's losses
    /// behind its last record, which are in no record_run. Adds them to the totals, and also the
    /// overwritten records that no run has reported.
    [[nodiscard]] std::vector<std::uint64_t> finish();

    [[nodiscard]] const std::vector<ring_totals>& rings() const noexcept { return totals_; }
    [[nodiscard]] std::uint32_t providers_refused() const { return providers_.refused(); }
    /// For a provider that has been passed on. A count that a program has overwritten keeps its
    /// last possible value, see count_limit.hpp; the more often it is read, the sooner that is
    /// noticed.
    [[nodiscard]] provider_losses losses_of(std::uint32_t provider) const;
    /// Reads the rings' counts of losses, so that values which grow too fast are noticed.
    void check_losses();
    /// Whether a program has overwritten a count in the region, which is left out from then on.
    [[nodiscard]] bool has_impossible_counts() const noexcept { return has_impossible_counts_; }
    /// The last ring, shared by writers without a ring of their CPU.
    [[nodiscard]] std::uint32_t shared_ring() const noexcept { return geometry_.ring_count - 1; }

  private:
    struct position {
        std::uint64_t generation = 0;
        std::uint64_t offset = 0;            // in the buffer
        std::uint64_t context = 0;           // of the record there; 0: none
        std::uint64_t records = 0;           // read from this buffer
        std::uint64_t lost_reported = 0;     // part of the ring's `lost` that runs have reported
        std::uint64_t records_reported = 0;  // of all records: passed on, or reported as missing
        std::uint64_t recorded = 0;          // by the last reading of the control word
        // Control word up to which all data has been read. No ring starts with this value.
        std::uint64_t settled = UINT64_MAX;

        void move_to(std::uint64_t other) noexcept;
    };
    [[nodiscard]] std::uint64_t unreported(std::uint64_t now, std::uint64_t reported) const;
    [[nodiscard]] bool is_possible(std::uint64_t count) const;
    [[nodiscard]] std::uint64_t counted_in(eventlog::core::control_word filled,
                                           bool is_exact) const;
    std::uint64_t accept(count_limit& limit, std::uint64_t count, std::uint64_t before,
                         std::uint64_t after) const;
    std::uint64_t read_losses(std::uint32_t ring);
    [[nodiscard]] std::uint64_t overwritten_before(std::uint32_t ring,
                                                   const buffer_state& state) const;
    [[nodiscard]] std::uint64_t unreported_losses(std::uint32_t ring, std::uint64_t count);
    [[nodiscard]] bool has_data_to_read();
    void drain_ring(std::uint32_t ring, const run_handler& take);
    void follow_ring(std::uint32_t ring, const run_handler& take);
    void follow_to(std::uint32_t ring, const active_buffer& active, const run_handler& take);
    void read_buffer(std::uint32_t ring, const buffer_state& state, const run_handler& take);
    void find_new_providers();
    void deliver(std::uint32_t ring, const buffer_state& state, const checked_records& found,
                 const run_handler& take);

    eventlog::core::region_geometry geometry_;
    producer_policy mode_;
    region_accessor words_;
    ring_controls controls_;
    provider_table providers_;
    event_numbers events_;
    std::vector<provider_instance> new_providers_;  // not passed on yet; their events are known
    std::vector<position> positions_;
    std::vector<ring_totals> totals_;
    std::vector<std::uint8_t> copy_;
    std::uint64_t start_;                       // of the subscription, CLOCK_MONOTONIC
    std::vector<count_limit> lost_limits_;      // by ring
    std::vector<count_limit> recorded_limits_;  // by ring, with never_wait
    // By provider: one for each of its counts.
    mutable std::map<std::uint32_t, std::vector<count_limit>> provider_limits_;
    mutable bool has_impossible_counts_ = false;
};

}  // namespace elog
