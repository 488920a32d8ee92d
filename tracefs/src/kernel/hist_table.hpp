// SPDX-License-Identifier: MIT
//
// The kernel's histograms of an event (Linux' histogram.rst): what is asked of one, and what it has
// counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace eventlog::tracefs {

/// What the kernel can keep of one event.
inline constexpr std::size_t hist_keys_max = 3;
inline constexpr std::size_t hist_values_max = 2;  // beside how many events there were
inline constexpr std::uint64_t hist_size_min = 128;
inline constexpr std::uint64_t hist_size_max = 131072;

struct hist_key {
    std::string field;         // also common_pid, common_cpu, common_type
    std::uint64_t bucket = 0;  // values are told apart by their multiples of that; 0: all are

    friend bool operator==(const hist_key&, const hist_key&) = default;
};

struct hist_request {
    std::vector<hist_key> keys{};
    std::vector<std::string> values{};   // fields to add up
    std::uint64_t size = hist_size_min;  // different keys there is room for: a power of two
    std::string condition{};             // as in a filter; empty: all events
};

/// What is written to an event's file `trigger`. Paused, one that is there counts no further.
[[nodiscard]] std::string hist_trigger(const hist_request& asked, bool paused = false);

struct hist_entry {
    std::vector<std::uint64_t> keys{};  // of a bucket where it begins; signed ones sign-extended
    std::uint64_t hits = 0;
    std::vector<std::uint64_t> sums{};  // modulo 2^64
};

struct hist_table {
    std::vector<hist_entry> entries{};
    std::uint64_t hits = 0;     // events that are in the entries
    std::uint64_t dropped = 0;  // events that found no room for their key
};

/// Takes apart what stands in an event's file `hist`, of one histogram that was asked for like
/// that. Throws error for anything else, and if entries are missing in it.
[[nodiscard]] hist_table parse_hist(std::string_view text, const hist_request& asked);

/// The same of what `read` returns. What is just being counted may stand in one place and not yet
/// in the other: what does not add up is read again, a few times.
[[nodiscard]] hist_table read_hist(const std::function<std::string()>& read,
                                   const hist_request& asked);

}  // namespace eventlog::tracefs
