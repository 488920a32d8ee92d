// SPDX-License-Identifier: MIT
//
// What perf's records say, taken apart by the layout that their event was recorded with.
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

/// Who it was, when and where. What the file does not say is nothing.
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
    std::span<const std::uint8_t> raw{};  // the kernel's record of an event, with bytes behind it
};

class perf_sample_layouts {
  public:
    /// The events must outlive it. Throws error if nothing tells whose samples are whose.
    explicit perf_sample_layouts(const std::vector<perf_event>& events);

    // Nothing: the record makes no sense.
    [[nodiscard]] std::optional<perf_sample> sample(const perf_file_record& record) const;
    /// What stands behind the body of any other record of the kernel's; the body without it.
    [[nodiscard]] perf_sample_id stamp(std::span<const std::uint8_t>& body) const;
    /// Takes what a record says about which CPU an event's numbers are of.
    void add_id_index(const perf_file_record& record);
    /// Nothing: the file has not said.
    [[nodiscard]] std::optional<std::uint32_t> cpu_of(std::uint64_t id) const;

  private:
    [[nodiscard]] const perf_event* event_of(std::uint64_t id) const;

    const std::vector<perf_event>& events_;
    // Not by a hash: whoever has made the file may have chosen numbers with the same.
    std::vector<std::pair<std::uint64_t, const perf_event*>> by_id_;  // sorted
    std::map<std::uint64_t, std::uint32_t> cpus_;
    // Where each record says which event it is of, in words: from the beginning of samples, and
    // from the end of others, where 1 is the last. Nothing: it does not.
    std::optional<std::size_t> id_in_sample_;
    std::optional<std::size_t> id_in_sample_id_;
};

}  // namespace eventlog::tracefs
