// SPDX-License-Identifier: MIT
//
// What perf.data says in front of its records and behind them, as perf record writes it to a file:
// which events were recorded, how their samples are laid out, and where, when and by which clock.
// The form is that of perf.data-file-format.txt of the kernel's sources.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "files/recorded_file.hpp"
#include "files/tracing_data.hpp"

namespace eventlog::tracefs {

/// How samples of an event, and what stands behind other records, are laid out: bits of
/// perf_event_open(2).
struct sample_layout {
    std::uint64_t sample_type = 0;
    std::uint64_t read_format = 0;
    bool sample_id_all = false;  // sample_id_all
};

/// An event that was recorded.
struct perf_event {
    bool is_tracepoint = false;
    sample_layout layout{};
    std::optional<std::int32_t> clock{};  // nothing: perf's own
    std::vector<std::uint64_t> ids{};
};

/// What two clocks said at one moment.
struct perf_clock_pair {
    std::uint32_t clock = 0;     // as of clock_gettime(2)
    std::uint64_t realtime = 0;  // nanoseconds since 1970
    std::uint64_t time = 0;      // on that clock, nanoseconds
};

/// Whether bytes begin as perf's files do, of whatever version and byte order.
[[nodiscard]] bool is_perf_data(std::span<const std::uint8_t> bytes) noexcept;

class perf_file {
  public:
    /// The file must outlive it. Throws error if it is none of perf's, of a form that elog does not
    /// read, or has lost what its records cannot be understood without.
    explicit perf_file(const recorded_file& file);

    [[nodiscard]] const std::vector<perf_event>& events() const noexcept { return events_; }
    [[nodiscard]] const std::vector<recorded_format>& formats() const noexcept { return formats_; }
    [[nodiscard]] const std::optional<perf_clock_pair>& clocks() const noexcept { return clocks_; }
    /// Bytes that one of its compressed records may become; 0: it says that there are none.
    [[nodiscard]] std::uint32_t content_max() const noexcept { return content_max_; }
    // Empty or 0: the file does not say.
    [[nodiscard]] const std::string& host_name() const noexcept { return host_name_; }
    [[nodiscard]] const std::string& kernel() const noexcept { return kernel_; }
    [[nodiscard]] const std::string& machine() const noexcept { return machine_; }
    [[nodiscard]] std::uint32_t cpus() const noexcept { return cpus_; }
    /// Where its records are.
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
    std::string host_name_;
    std::string kernel_;
    std::string machine_;
    std::uint32_t cpus_ = 0;
};

}  // namespace eventlog::tracefs
