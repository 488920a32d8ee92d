// SPDX-License-Identifier: MIT
//
// Reading a subscription's region while applications write to it. They may be broken or hostile:
// everything is checked on a private copy before it is used, and nothing is touched through a
// mapping, because the file may be cut short at any moment (region_accessor.hpp). What is mapped
// for the kernel to look at is in what the maker of the region has reserved, and in the entries of
// providers that are ready: elsewhere there may be no memory.
#pragma once

#include <linux/eventlog.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "memory/region_accessor.hpp"
#include "platform/unique_fd.hpp"
#include "record/recording_summary.hpp"
#include "record/records.hpp"
#include "record/region_view.hpp"
#include "ring/region.hpp"
#include "schema/provider_schema.hpp"

namespace elog {

/// Whether those who write wait until we have given a buffer back.
enum class producer_policy {
    wait,        // we own the subscription, which is in discard mode
    never_wait,  // it is in overwrite mode, or we only look on: nothing is stored in the region
};

[[nodiscard]] inline producer_policy producer_policy_of(const eventlog_region& header) noexcept {
    return eventlog::core::overwrites(header) ? producer_policy::never_wait : producer_policy::wait;
}

/// Throws failure if somebody has cut it short, in what is mapped or behind that. Whoever waits for
/// events would not notice: there are none any more.
void check_not_truncated(const region_view& source);

/// All that it is asked throws failure if the file has been cut short.
class region_reader {
  public:
    /// The file must stay open as long as this lives.
    region_reader(const region_view& source, producer_policy mode);

    using run_handler = std::function<void(const record_run&)>;
    using provider_handler = std::function<void(provider_instance&&)>;

    /// Hands over all that has been recorded since the last call, ring by ring, and gives drained
    /// buffers back. Where producers go on, a reader that is late finds the oldest gone, and tells
    /// how many, before the first that it finds. The bytes are valid only during the call of
    /// `take`. Providers that records name must be asked for (read_new_providers) inside `take` or
    /// afterwards, not before.
    void poll(const run_handler& take);

    /// Hands over the providers that have attached since the last call.
    void read_new_providers(const provider_handler& take);

    /// Sleeps until a buffer has been switched or the time is over. Returns whether there is one to
    /// be read before its time. Not for who only looks on.
    bool wait(std::chrono::nanoseconds at_most);

    /// After the subscription has ended and poll has been called: what each ring lost at its end,
    /// in no record_run. Adds it to the totals, and to these what was overwritten before it could
    /// be read and has no record behind it.
    [[nodiscard]] std::vector<std::uint64_t> finish();

    [[nodiscard]] const std::vector<ring_totals>& rings() const noexcept { return totals_; }
    [[nodiscard]] std::uint32_t providers_refused() const;
    /// Of a provider that has been handed over.
    [[nodiscard]] provider_losses losses_of(std::uint16_t provider) const;
    /// The last ring: shared by writers that have no CPU's ring.
    [[nodiscard]] std::uint32_t shared_ring() const noexcept { return geometry_.ring_count - 1; }

  private:
    struct position {
        std::uint64_t generation = 0;
        std::uint64_t offset = 0;         // in the buffer
        std::uint64_t records = 0;        // taken out of this buffer
        std::uint64_t lost_reported = 0;  // part of the ring's `lost` that has been told
        std::uint64_t records_reported =
            0;                       // of all ever recorded: handed over, or told to be missing
        std::uint64_t recorded = 0;  // by what the producer said last; where it goes on
        // The control word by which all there was has been read. No ring begins with this one.
        std::uint64_t settled = UINT64_MAX;

        void move_to(std::uint64_t other) noexcept;
    };
    /// What of a buffer there is to read, and what precedes it. Not to be believed before the
    /// producer is known to have left the buffer alone.
    struct buffer_state {
        eventlog::core::control_word filled{};
        std::uint64_t records_before = 0;
        std::uint64_t lost_before = 0;
        bool exact = true;  // if not, `filled` may end in the middle of a record
    };
    /// If it is not exact, so much of its generation is filled, or more: position and count are
    /// not of the same moment.
    struct control_reading {
        eventlog::core::control_word word{};
        bool exact = true;
    };
    struct active_buffer {
        control_reading control{};
        std::uint64_t generation = 0;
        std::uint64_t records_before = 0;
    };

    template <class Take>
    void for_each_control(const Take& take);
    [[nodiscard]] std::optional<control_reading> control_of(std::uint32_t ring) const;
    [[nodiscard]] bool has_data_to_read();
    void drain_ring(std::uint32_t ring, const run_handler& take);
    void follow_ring(std::uint32_t ring, const run_handler& take);
    void follow_to(std::uint32_t ring, const active_buffer& active, const run_handler& take);
    [[nodiscard]] std::uint64_t descriptor_offset(std::uint32_t ring,
                                                  std::uint64_t generation) const noexcept;
    [[nodiscard]] buffer_state state_of(std::uint32_t ring, std::uint64_t generation,
                                        const control_reading& control, bool active) const;
    [[nodiscard]] std::optional<active_buffer> find_active(std::uint32_t ring) const;
    [[nodiscard]] bool is_still_buffered(std::uint32_t ring, std::uint64_t generation) const;
    void read_buffer(std::uint32_t ring, const buffer_state& state, const run_handler& take);
    void deliver(std::uint32_t ring, const buffer_state& state, const checked_records& found,
                 const run_handler& take);
    void read_entries(std::uint32_t first, std::span<eventlog_provider_entry> entries) const;
    [[nodiscard]] std::optional<provider_instance> read_provider(std::uint16_t id) const;

    const eventlog::core::unique_fd& file_;
    eventlog::core::region_geometry geometry_;
    producer_policy mode_;
    region_accessor words_;
    std::vector<bool> backed_;         // by ring
    std::vector<std::uint8_t> heads_;  // of some rings
    std::vector<position> positions_;
    std::vector<ring_totals> totals_;
    std::vector<std::uint16_t> unfinished_providers_;
    std::uint32_t providers_seen_ = 0;
    std::vector<std::uint8_t> copy_;
};

}  // namespace elog
