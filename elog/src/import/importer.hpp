// SPDX-License-Identifier: MIT
//
// Common part of the imports from perf.data and trace.dat: turns kernel records into records of an
// .elog file, as `elog record --via tracefs` does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/kernel_trace_run_builder.hpp"
#include "files/tracing_data.hpp"
#include "import/imported_file.hpp"
#include "schema/patterns.hpp"
#include "tracing/kernel_trace_registry.hpp"

namespace elog {

/// The clock of a recording's times and its relation to other clocks.
struct recorded_clock {
    enum class kind { monotonic, realtime, other };

    kind is = kind::other;
    std::string name;    // for sentences
    std::string advice;  // how to record with a clock that relates to the time of day
    std::optional<std::int64_t> realtime{};  // CLOCK_REALTIME minus this clock, nanoseconds
};

/// Result of an import.
struct import_result {
    recorded_clock clock;
    std::vector<std::string> notes{};    // remarks, as sentences
    std::vector<std::string> damages{};  // what could not be read
};

class importer {
  public:
    /// Creates or replaces the file `to`.
    importer(const std::string& to, const eventlog::tracefs::recorded_machine& machine,
             recorded_clock clock, const std::vector<eventlog::tracefs::recorded_format>& formats,
             kernel_trace_registry::read_published published);
    importer(const importer&) = delete;
    importer& operator=(const importer&) = delete;
    ~importer() = default;

    /// The ring for records of that CPU; the shared ring if the CPU is unknown.
    [[nodiscard]] std::uint32_t ring_of(std::optional<std::uint32_t> cpu) const noexcept;
    /// Records of a ring must be in the order of time. Throws user_error if the file cannot be
    /// written.
    void take(std::uint32_t ring, const process_info& process, const kernel_trace_record& record);
    /// A count above half of largest_loss() is damage; the other half is for the numbers of
    /// records.
    void lose(std::uint32_t ring, std::uint64_t count);
    [[nodiscard]] std::uint64_t lost(std::uint32_t ring) const noexcept {
        return records_.lost(ring) + early_losses_[ring];
    }
    void count_damaged(std::uint32_t ring) noexcept { records_.count_damaged(ring); }
    /// Must be the last call: completes the file.
    void finish(import_result& result);

  private:
    void begin(std::uint64_t time);
    void take_early_losses();
    void lose_possible(std::uint32_t ring, std::uint64_t count);

    recorded_clock clock_;
    std::uint32_t shared_ring_;
    event_patterns patterns_;
    kernel_trace_registry events_;
    std::vector<std::string> diagnostics_;
    imported_file file_;
    kernel_trace_run_builder records_;
    bool has_begun_ = false;
    std::uint64_t begin_ = 0;                  // time of the first record
    std::vector<std::uint64_t> early_losses_;  // before it, by ring: its time says what is possible
    std::uint64_t impossible_ = 0;             // counts
    std::uint64_t unknown_ = 0;                // records of unknown events
};

}  // namespace elog
