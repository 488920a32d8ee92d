// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include <fmt/format.h>

namespace elog {

/// A JSON string, in quotes. What is not UTF-8 becomes U+FFFD: JSON has no other way to say it.
/// Characters that terminals obey, or that hide others, are escaped.
void append_json_text(fmt::memory_buffer& out, std::string_view text);

/// "name": "value". The name is ours, the value may be anyone's.
void append_json_member(fmt::memory_buffer& out, const char* name, std::string_view value);

/// A JSON number with all its digits; null for what is not finite.
void append_json_number(fmt::memory_buffer& out, double number);

}  // namespace elog
