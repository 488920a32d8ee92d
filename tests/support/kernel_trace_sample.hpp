// SPDX-License-Identifier: MIT
//
// What files of perf and trace-cmd say about the kernel's events, and records of an event: the same
// in both.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "byte_builder.hpp"

namespace eventlog::test {

/// An event of the fields number, u64, and word, text, as the SDK has it in user_events.
[[nodiscard]] std::string item_format(std::string_view name, int id);

/// A record of it, as the kernel's ring buffer has it.
[[nodiscard]] std::vector<std::uint8_t> item_record(int id, std::uint32_t thread,
                                                       std::uint64_t number, std::string_view word);

struct system_format {
    std::string system;
    std::string text;
};

/// The first bytes, up to the page size.
void add_tracing_header(byte_builder& to, std::string_view version);
/// "header_page" and "header_event".
void add_page_formats(byte_builder& to);
void add_event_formats(byte_builder& to, const std::vector<system_format>& formats);

/// All that perf has of it.
[[nodiscard]] std::vector<std::uint8_t> tracing_data(const std::vector<system_format>& formats);

}  // namespace eventlog::test
