// SPDX-License-Identifier: MIT
//
// Descriptions of the kernel's events in trace.dat and in a section of perf.data. Both have the
// form of trace-cmd.dat.v6(5).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/byte_reader.hpp"

namespace eventlog::tracefs {

/// Content of an event's file `format`.
struct recorded_format {
    std::string system;
    std::string text;
};

/// The machine of a recording. Empty or 0 if the file does not contain it.
struct recorded_machine {
    std::string host_name;
    std::string kernel;
    std::string architecture;
    std::uint32_t cpus = 0;
};

/// The first bytes of the description.
struct tracing_header {
    std::string version;
    std::uint32_t page_size = 0;
};

/// Bound for a file; kernels have some thousand formats.
inline constexpr std::size_t recorded_formats_max = 65536;

/// Whether the bytes are the start of a file of trace-cmd.
[[nodiscard]] bool is_tracing_data(std::span<const std::uint8_t> bytes) noexcept;

// All functions below throw error for invalid bytes.
/// Also for another byte order or word size.
[[nodiscard]] tracing_header parse_tracing_header(byte_reader& from);
/// Formats of pages and event headers, which are equal in all kernels, see page_events.
void skip_page_formats(byte_reader& from);
/// Formats of events that are not tracepoints, such as writes to trace_marker; in the system
/// ftrace.
void parse_ftrace_formats(byte_reader& from, std::vector<recorded_format>& formats);
void parse_event_formats(byte_reader& from, std::vector<recorded_format>& formats);
/// Names of functions and formats of trace_printk, which are not needed.
void skip_function_names(byte_reader& from);

/// Parses the section of perf.data.
[[nodiscard]] std::vector<recorded_format> parse_tracing_data(std::span<const std::uint8_t> bytes);

}  // namespace eventlog::tracefs
