// SPDX-License-Identifier: MIT
//
// Counts the records of a recording by event and process, and its losses by reason.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/saturating.hpp"
#include "record/record_writer.hpp"
#include "record/recording_mark.hpp"
#include "text/wide_integer.hpp"

namespace elog {

struct event_counts {
    std::uint64_t events = 0;
    std::uint64_t bytes = 0;  // size of their records in a ring
    std::uint64_t lost = 0;   // for processes only: the events of losses are unknown
};

struct loss_counts {
    std::uint64_t full = 0;
    std::uint64_t too_large = 0;
    std::uint64_t busy = 0;
    std::uint64_t unattached = 0;
    std::uint64_t refused = 0;
    std::uint64_t damaged = 0;
    std::uint64_t unwritten = 0;
    std::uint64_t no_memory = 0;  // of `full`

    [[nodiscard]] std::uint64_t all() const noexcept {
        return saturating_sum(full, too_large, busy, unattached, refused, damaged, unwritten);
    }
};

/// A process by name and number.
using process_name = std::pair<std::string, std::uint32_t>;

/// A provider of a process, by name.
using provider_name = std::pair<std::string, process_name>;

/// A record_writer that counts records and writes nothing.
class record_counts final : public record_writer {
  public:
    void write(const merged_record& record, const provider_map& providers,
               const clock_converter& clock, std::uint32_t shared_ring) override;
    void write_gap(const merged_record& record, std::uint32_t shared_ring) override;
    void write_loss(const loss_report& loss, const provider_map& providers,
                    std::uint32_t shared_ring) override;
    void write_mark(const recording_mark& mark, const clock_converter& /*clock*/) override {
        marks_.push_back(mark);
    }
    void flush() override {}
    /// Maps the counts from numbers to names.
    void finish() override;

    // Valid after finish():
    [[nodiscard]] const event_counts& all() const noexcept { return all_; }
    /// By PROVIDER:EVENT.
    [[nodiscard]] const std::map<std::string, event_counts>& by_event() const noexcept {
        return by_event_;
    }
    [[nodiscard]] const std::map<process_name, event_counts>& by_process() const noexcept {
        return by_process_;
    }
    [[nodiscard]] const loss_counts& lost() const noexcept { return lost_; }
    /// Losses of providers. Damaged records belong to no known provider.
    [[nodiscard]] const std::map<provider_name, loss_counts>& lost_by_provider() const noexcept {
        return lost_by_provider_;
    }
    /// Recorded events that newer ones replaced in the buffers; not counted as lost.
    [[nodiscard]] std::uint64_t overwritten() const noexcept { return overwritten_; }
    /// Records of a newer version; included in no other number.
    [[nodiscard]] std::uint64_t not_understood() const noexcept { return not_understood_; }
    /// Begins and ends of pauses.
    [[nodiscard]] const std::vector<recording_mark>& marks() const noexcept { return marks_; }
    /// Earliest and latest time of a record, nanoseconds since 1970; 0 without records.
    [[nodiscard]] std::int64_t first() const noexcept { return first_; }
    [[nodiscard]] std::int64_t last() const noexcept { return last_; }
    /// From the earliest to the latest time on CLOCK_MONOTONIC, because CLOCK_REALTIME may have
    /// been set between them. In double, because times in a damaged file may differ by more than
    /// their type holds.
    [[nodiscard]] double seconds() const noexcept {
        return static_cast<double>(wide_integer{last_monotonic_} - first_monotonic_) / 1e9;
    }

  private:
    struct numbered {
        event_counts counts;
        std::string event;
        process_name process;
    };

    [[nodiscard]] static provider_name name_of(std::uint32_t provider,
                                               const provider_map& providers);
    [[nodiscard]] numbered& counts_of(const record_view& record, const provider_map& providers);

    std::unordered_map<std::uint64_t, numbered> by_number_;  // by provider and event
    std::uint64_t latest_number_ = 0;
    numbered* latest_ = nullptr;  // consecutive records often are of one event
    event_counts all_;
    std::map<std::string, event_counts> by_event_;
    std::map<process_name, event_counts> by_process_;  // before finish(): losses only
    loss_counts lost_;
    std::map<provider_name, loss_counts> lost_by_provider_;
    std::vector<recording_mark> marks_;
    std::uint64_t overwritten_ = 0;
    std::uint64_t not_understood_ = 0;
    std::int64_t first_ = 0;
    std::int64_t last_ = 0;
    std::int64_t first_monotonic_ = 0;
    std::int64_t last_monotonic_ = 0;
};

}  // namespace elog
