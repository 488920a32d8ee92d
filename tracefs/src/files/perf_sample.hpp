// SPDX-License-Identifier: MIT
//
// Parses the samples and record trailers of perf.data by the layout of their events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "files/perf_file.hpp"
#include "files/perf_file_records.hpp"

namespace eventlog::tracefs {

/// Process, CPU and time of a record. Missing parts are empty.
struct perf_sample_id {
    std::uint32_t pid = 0;
    std::uint32_t thread = 0;
    std::optional<std::uint64_t> time{};
    std::optional<std::uint32_t> cpu{};
    std::optional<std::uint64_t> id{};  // of the event on that CPU
};

struct perf_sample {
    perf_sample_id stamp{};
    bool is_tracepoint = false;
    std::span<const std::uint8_t> raw{};  // the kernel's record of an event, with padding
};

class perf_sample_layouts {
  public:
    /// The events must outlive it. Throws error if samples cannot be assigned to events.
    explicit perf_sample_layouts(const std::vector<perf_event>& events);

    // Nothing if the record is invalid.
    [[nodiscard]] std::optional<perf_sample> sample(const perf_file_record& record) const;
    /// The trailer of any other record of the kernel; removes it from the body.
    [[nodiscard]] perf_sample_id stamp(std::span<const std::uint8_t>& body) const;
    /// Reads which CPU each event id belongs to.
    void add_id_index(const perf_file_record& record);
    /// Nothing if the file does not contain it.
    [[nodiscard]] std::optional<std::uint32_t> cpu_of(std::uint64_t id) const;

  private:
    [[nodiscard]] const perf_event* event_of(std::uint64_t id) const;

    const std::vector<perf_event>& events_;
    // Sorted, not hashed: the maker of the file could choose numbers that collide.
    std::vector<std::pair<std::uint64_t, const perf_event*>> by_id_;  // sorted
    std::map<std::uint64_t, std::uint32_t> cpus_;
    // Position of the event id in words: from the start of samples, and from the end of other
    // records, where 1 is the last. Nothing if the records have no id.
    std::optional<std::size_t> id_in_sample_;
    std::optional<std::size_t> id_in_sample_id_;
};

}  // namespace eventlog::tracefs
