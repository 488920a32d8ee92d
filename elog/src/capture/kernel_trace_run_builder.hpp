// SPDX-License-Identifier: MIT
//
// Records of the kernel's tracing on their way to a sink, wherever they come from: each becomes a
// record of ours, of a provider in its process, in a run of its ring with what is missing in front.
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

/// As the kernel has it.
struct kernel_trace_record {
    std::uint64_t time = 0;
    std::uint32_t thread = 0;
    std::uint16_t cpu = 0;
    std::span<const std::uint8_t> bytes{};
    std::string_view stack{};  // for the field of stack_field.hpp; empty: none
};

class kernel_trace_run_builder {
  public:
    /// What is missing in front of a run `is_overwritten`, see record_run, or has found no room.
    kernel_trace_run_builder(std::uint32_t ring_count, bool is_overwritten);

    /// Where they go from here on, which must outlive all other calls.
    void start(record_sink& sink) noexcept { sink_ = &sink; }

    /// The number that the event's provider has in that process; the sink has been told of it.
    /// Throws failure.
    [[nodiscard]] std::uint16_t provider_of(const kernel_trace_event& event,
                                            const process_info& process);

    /// Behind those of its ring. One that makes no sense is counted. Throws failure.
    void take(std::uint32_t ring, const kernel_trace_event& event, const process_info& process,
              const kernel_trace_record& record);
    /// So many are missing in front of the next one of the ring.
    void lose(std::uint32_t ring, std::uint64_t count);
    /// One that makes no sense.
    void count_damaged(std::uint32_t ring) noexcept { ++rings_[ring].totals.damaged; }
    /// What the ring has kept so far goes to the sink.
    void deliver(std::uint32_t ring);
    /// Of all rings, then what is missing behind the last records.
    void finish();

    /// Told or still to be told as missing on the ring.
    [[nodiscard]] std::uint64_t lost(std::uint32_t ring) const noexcept {
        return rings_[ring].reported;
    }
    [[nodiscard]] ring_totals totals(std::uint32_t ring) const noexcept;

  private:
    /// What a ring has got so far, and lost.
    struct ring_state {
        ring_totals totals{};
        std::uint64_t unreported = 0;     // lost, and no record has been handed over since
        std::uint64_t reported = 0;       // lost in all
        std::vector<std::uint8_t> bytes;  // records that have not been handed over
        std::uint64_t count = 0;
        std::uint64_t first_loss = 0;  // in front of them
    };
    /// A provider in a process.
    using instance_key = std::tuple<const provider_schema*, std::uint32_t, std::uint64_t>;

    bool is_overwritten_;
    record_sink* sink_ = nullptr;
    std::vector<ring_state> rings_;
    std::map<instance_key, std::uint16_t> instances_;
    std::uint16_t next_instance_ = 0;
    std::size_t schema_bytes_ = 0;  // of all instances
};

}  // namespace elog
