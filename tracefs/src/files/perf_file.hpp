// SPDX-License-Identifier: MIT
//
// Reads the parts of perf.data around its records, as perf record writes them to a file: the
// recorded events, the layout of their samples, the machine and the clocks. The format is described
// in perf.data-file-format.txt of Linux.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "files/recorded_file.hpp"
#include "files/tracing_data.hpp"

namespace eventlog::tracefs {

/// Layout of samples of an event, and of the data behind other records: bits of perf_event_open(2).
struct sample_layout {
    std::uint64_t sample_type = 0;
    std::uint64_t read_format = 0;
    bool sample_id_all = false;
};

/// A recorded event.
struct perf_event {
    bool is_tracepoint = false;
    sample_layout layout{};
    std::optional<std::int32_t> clock{};  // nothing: perf's own clock
    std::vector<std::uint64_t> ids{};
};

/// Readings of two clocks at one moment.
struct perf_clock_pair {
    std::uint32_t clock = 0;     // as of clock_gettime(2)
    std::uint64_t realtime = 0;  // nanoseconds since 1970
    std::uint64_t time = 0;      // on that clock, nanoseconds
};

/// Whether the bytes are the start of a perf.data file of any version and byte order.
[[nodiscard]] bool is_perf_data(std::span<const std::uint8_t> bytes) noexcept;

class perf_file {
  public:
    /// The file must outlive it. Throws error if it is not of perf, has an unsupported form, or
    /// lacks data that is needed to interpret its records.
    explicit perf_file(const recorded_file& file);

    [[nodiscard]] const std::vector<perf_event>& events() const noexcept { return events_; }
    [[nodiscard]] const std::vector<recorded_format>& formats() const noexcept { return formats_; }
    [[nodiscard]] const std::optional<perf_clock_pair>& clocks() const noexcept { return clocks_; }
    /// Maximum decompressed size of a record; 0: the file has no compressed records.
    [[nodiscard]] std::uint32_t content_max() const noexcept { return content_max_; }
    [[nodiscard]] const recorded_machine& machine() const noexcept { return machine_; }
    /// Location of the records.
    [[nodiscard]] std::uint64_t data_offset() const noexcept { return data_.offset; }
    [[nodiscard]] std::uint64_t data_size() const noexcept { return data_.size; }

  private:
    struct section {
        std::uint64_t offset = 0;
        std::uint64_t size = 0;
    };
    struct head;

    void parse_events(const head& from);
    void parse_features(const head& from);
    void parse_feature(unsigned number, std::span<const std::uint8_t> bytes);

    const recorded_file& file_;
    section data_{};
    std::vector<perf_event> events_;
    std::vector<recorded_format> formats_;
    std::optional<perf_clock_pair> clocks_;
    std::uint32_t content_max_ = 0;
    recorded_machine machine_;
};

}  // namespace eventlog::tracefs
