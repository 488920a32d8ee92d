// SPDX-License-Identifier: MIT
//
// Turns records of the kernel's tracing, from any source, into records of providers in their
// processes, and passes them to a sink in runs with the losses in front of them.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "record/record_sink.hpp"
#include "record/recording_summary.hpp"
#include "tracing/kernel_trace_registry.hpp"
#include "tracing/process_cache.hpp"

namespace elog {

/// A record in the kernel's form.
struct kernel_trace_record {
    std::uint64_t time = 0;
    std::uint32_t thread = 0;
    std::uint16_t cpu = 0;
    std::span<const std::uint8_t> bytes{};
    std::string_view stack{};  // for the field of stack_field.hpp; empty: none
};

class kernel_trace_run_builder {
  public:
    /// `is_overwritten`: losses are overwritten records (see record_run), not records without room.
    kernel_trace_run_builder(std::uint32_t ring_count, bool is_overwritten);

    /// Sets the sink, which must outlive all other calls.
    void start(record_sink& sink) noexcept { sink_ = &sink; }

    /// The provider number of the event in that process; announces the provider to the sink if it
    /// is new. Throws user_error.
    [[nodiscard]] std::uint32_t provider_of(const kernel_trace_event& event,
                                            const process_info& process);

    /// Appends a record to its ring. An invalid record is counted as damaged. Throws user_error.
    void take(std::uint32_t ring, const kernel_trace_event& event, const process_info& process,
              const kernel_trace_record& record);
    /// Adds a loss in front of the next record of the ring.
    void lose(std::uint32_t ring, std::uint64_t count);
    /// Counts an invalid record.
    void count_damaged(std::uint32_t ring) noexcept { ++rings_[ring].totals.damaged; }
    /// Passes the ring's pending records to the sink.
    void deliver(std::uint32_t ring);
    /// Passes on the pending records of all rings, then the losses behind the last records.
    void finish();

    /// Losses of the ring, passed on or pending.
    [[nodiscard]] std::uint64_t lost(std::uint32_t ring) const noexcept {
        return rings_[ring].reported;
    }
    [[nodiscard]] ring_totals totals(std::uint32_t ring) const noexcept;

  private:
    /// Pending records and counts of a ring.
    struct ring_state {
        ring_totals totals{};
        std::uint64_t unreported = 0;     // losses since the last record
        std::uint64_t reported = 0;       // losses in all
        std::vector<std::uint8_t> bytes;  // pending records
        std::uint64_t count = 0;
        std::uint64_t first_loss = 0;  // losses in front of them
    };
    /// A provider in a process.
    using instance_key = std::tuple<const provider_schema*, std::uint32_t, std::uint64_t>;

    bool is_overwritten_;
    record_sink* sink_ = nullptr;
    std::vector<ring_state> rings_;
    std::map<instance_key, std::uint32_t> instances_;
    std::uint32_t next_instance_ = 0;
    std::size_t schema_bytes_ = 0;  // of all instances
};

}  // namespace elog
