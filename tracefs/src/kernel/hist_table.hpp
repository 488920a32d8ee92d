// SPDX-License-Identifier: MIT
//
// Requests for the kernel's histograms of an event (Linux' histogram.rst), and their results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace eventlog::tracefs {

/// Limits of the kernel.
inline constexpr std::size_t hist_keys_max = 3;
inline constexpr std::size_t hist_values_max = 2;  // in addition to the number of events
inline constexpr std::uint64_t hist_size_min = 128;
inline constexpr std::uint64_t hist_size_max = 131072;

struct hist_key {
    std::string field;         // a field or common_pid, common_cpu, common_type
    std::uint64_t bucket = 0;  // width of buckets; 0: each value is a key

    friend bool operator==(const hist_key&, const hist_key&) = default;
};

struct hist_request {
    std::vector<hist_key> keys{};
    std::vector<std::string> values{};   // fields to sum
    std::uint64_t size = hist_size_min;  // capacity in keys: a power of two
    std::string condition{};             // as in a filter; empty: all events
};

/// The text that is written to the file `trigger`. With `paused`, an existing histogram stops
/// counting.
[[nodiscard]] std::string hist_trigger(const hist_request& asked, bool paused = false);

struct hist_entry {
    std::vector<std::uint64_t> keys{};  // for buckets the lower bound; sign-extended
    std::uint64_t hits = 0;
    std::vector<std::uint64_t> sums{};  // modulo 2^64
};

struct hist_table {
    std::vector<hist_entry> entries{};
    std::uint64_t hits = 0;     // events counted in the entries
    std::uint64_t dropped = 0;  // events without room for their key
};

/// Parses the file `hist` of an event with one histogram of this request. Throws error if the text
/// is anything else or incomplete.
[[nodiscard]] hist_table parse_hist(std::string_view text, const hist_request& asked);

/// Parses what `read` returns. While an event is being counted, totals and entries may differ, so
/// an inconsistent text is read again a few times.
[[nodiscard]] hist_table read_hist(const std::function<std::string()>& read,
                                   const hist_request& asked);

}  // namespace eventlog::tracefs
