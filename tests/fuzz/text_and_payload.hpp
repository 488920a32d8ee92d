// SPDX-License-Identifier: MIT
//
// The input of fuzzers that compute a text of the command line over the payload of an event.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "schema/schema_text.hpp"

/// The text, a NUL, and the payload: copies of exactly these sizes, so that a sanitizer detects
/// reads beyond their ends.
struct text_and_payload {
    text_and_payload(const std::uint8_t* data, std::size_t size)
        : text_and_payload(data, std::find(data, data + size, std::uint8_t{0}), data + size) {}

    /// The payload without its last bytes.
    [[nodiscard]] std::vector<std::uint8_t> payload_without(std::size_t bytes) const {
        const auto left_out = static_cast<std::ptrdiff_t>(std::min(bytes, payload.size()));
        return {payload.begin(), payload.end() - left_out};
    }

    std::string text;
    std::vector<std::uint8_t> payload;

  private:
    text_and_payload(const std::uint8_t* begin, const std::uint8_t* end_of_text,
                     const std::uint8_t* end)
        : text(begin, end_of_text), payload(end_of_text == end ? end : end_of_text + 1, end) {}
};

/// A running provider with the events of a schema in text form.
inline elog::provider_instance make_provider(std::string_view schema) {
    elog::provider_instance made;
    made.pid = 1;
    made.process = "fuzzer";
    made.schema = elog::parse_schema_text("schema", schema).schema;
    return made;
}
