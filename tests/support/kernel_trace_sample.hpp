// SPDX-License-Identifier: MIT
//
// Event formats and records that files of perf and trace-cmd have in common.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "byte_builder.hpp"

namespace eventlog::test {

/// The format of an event with the fields number (u64) and word (text), as the SDK registers it in
/// user_events.
[[nodiscard]] std::string item_format(std::string_view name, int id);

/// A record of the event, as in the kernel's ring buffer.
[[nodiscard]] std::vector<std::uint8_t> item_record(int id, std::uint32_t thread,
                                                    std::uint64_t number, std::string_view word);

struct system_format {
    std::string system;
    std::string text;
};

/// The first bytes of the tracing data, up to the page size.
void add_tracing_header(byte_builder& to, std::string_view version);
/// "header_page" and "header_event".
void add_page_formats(byte_builder& to);
void add_event_formats(byte_builder& to, const std::vector<system_format>& formats);

/// The complete tracing data of perf.data.
[[nodiscard]] std::vector<std::uint8_t> tracing_data(const std::vector<system_format>& formats);

}  // namespace eventlog::test
