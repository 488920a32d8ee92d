// SPDX-License-Identifier: MIT
//
// What trace-cmd's files, and a section of perf's, say about the kernel that they are of: how its
// events look. Both have the same form, that of trace-cmd.dat.v6(5).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/byte_reader.hpp"

namespace eventlog::tracefs {

/// What stands in an event's file `format`.
struct recorded_format {
    std::string system;
    std::string text;
};

/// The first bytes: whose they are.
struct tracing_header {
    std::string version;
    std::uint32_t page_size = 0;
};

/// Formats in one file; kernels have some thousands.
inline constexpr std::size_t recorded_formats_max = 65536;

/// Whether bytes begin as trace-cmd's files do.
[[nodiscard]] bool is_tracing_data(std::span<const std::uint8_t> bytes) noexcept;

// All that follow throw error where the bytes make no sense.
/// Also if they are of another byte order or word size than ours.
[[nodiscard]] tracing_header parse_tracing_header(byte_reader& from);
/// What pages and events begin with: the same in all kernels, see page_events.
void skip_page_formats(byte_reader& from);
/// Of events that are no tracepoints, such as what is written to trace_marker; in the system
/// ftrace.
void parse_ftrace_formats(byte_reader& from, std::vector<recorded_format>& formats);
void parse_event_formats(byte_reader& from, std::vector<recorded_format>& formats);
/// Names of functions, and formats of trace_printk: nobody here prints by them.
void skip_function_names(byte_reader& from);

/// perf's section, as far as it is of use.
[[nodiscard]] std::vector<recorded_format> parse_tracing_data(std::span<const std::uint8_t> bytes);

}  // namespace eventlog::tracefs
