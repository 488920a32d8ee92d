// SPDX-License-Identifier: MIT
//
// An .elog file made of what perf or trace-cmd has recorded: what both translations share. Records
// become records of ours as those of `elog record --via tracefs` do.
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

/// By which clock a recording's times are, and how that belongs to others.
struct recorded_clock {
    enum class kind { monotonic, realtime, other };

    kind is = kind::other;
    std::string name;    // for sentences
    std::string advice;  // how to record by one that says what time of day it was
    std::optional<std::int64_t> realtime{};  // CLOCK_REALTIME less that clock, nanoseconds
};

/// What came of one.
struct import_result {
    recorded_clock clock;
    std::vector<std::string> notes{};    // what is to be known of it, in sentences
    std::vector<std::string> damages{};  // what could not be read
};

class importer {
  public:
    /// `to` is made or replaced.
    importer(const std::string& to, const recorded_host& host, recorded_clock clock,
             const std::vector<eventlog::tracefs::recorded_format>& formats,
             kernel_trace_registry::read_published published);
    importer(const importer&) = delete;
    importer& operator=(const importer&) = delete;
    ~importer() = default;

    /// The ring for what was recorded on that CPU, or nobody knows where.
    [[nodiscard]] std::uint32_t ring_of(std::optional<std::uint32_t> cpu) const noexcept;
    /// Records of a ring come in the order of time. Throws failure if no more can be written.
    void take(std::uint32_t ring, const process_info& process, const kernel_trace_record& record);
    void lose(std::uint32_t ring, std::uint64_t count) { records_.lose(ring, count); }
    [[nodiscard]] std::uint64_t lost(std::uint32_t ring) const noexcept {
        return records_.lost(ring);
    }
    void count_damaged(std::uint32_t ring) noexcept { records_.count_damaged(ring); }
    /// The last call: what was taken is in the file.
    void finish(import_result& result);

  private:
    void begin(std::uint64_t time);

    recorded_clock clock_;
    std::uint32_t shared_ring_;
    event_patterns patterns_;
    kernel_trace_registry events_;
    std::vector<std::string> diagnostics_;
    imported_file file_;
    kernel_trace_run_builder records_;
    bool has_begun_ = false;
    std::uint64_t unknown_ = 0;  // records of events that nothing is known of
};

}  // namespace elog
