// SPDX-License-Identifier: MIT
//
// Reads and parses the kernel's text files about processes in /proc.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/unique_fd.hpp"

namespace elog {

/// Limit of the file `status`, with 65536 groups.
inline constexpr std::size_t process_status_max = std::size_t{1} << 20U;

/// The text of an open file, about `size_max` bytes of it at most. nullopt, with errno set, if the
/// file is not open or cannot be read.
[[nodiscard]] std::optional<std::string> read_text(const eventlog::core::unique_fd& file,
                                                   std::size_t size_max);

/// Removes and returns the text up to the next `end`, which is removed too, or all of it.
[[nodiscard]] std::string_view take_until(std::string_view& text, char end) noexcept;

/// The text behind `label` in its line of the file `status`; empty if there is no such line.
[[nodiscard]] std::string_view status_value(std::string_view status, std::string_view label);

/// The numbers in the line of that label.
[[nodiscard]] std::vector<unsigned> status_numbers(std::string_view status, std::string_view label);

/// Decodes names in which spaces, tabs, newlines and backslashes are written as "\040".
[[nodiscard]] std::string unescape_octal(std::string_view text);

}  // namespace elog
