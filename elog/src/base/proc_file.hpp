// SPDX-License-Identifier: MIT
//
// What the kernel says of processes, in the files of /proc.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/unique_fd.hpp"

namespace elog {

// Of the file `status`, with 65536 groups; and of `mountinfo`, with as many mounts as there may be.
inline constexpr std::size_t process_status_max = std::size_t{1} << 20U;
inline constexpr std::size_t process_mounts_max = std::size_t{32} << 20U;

/// The text of an open file, and no more than about `size_max` of it. Nothing, and errno says why,
/// if it cannot be read; so, too, if there is no file.
[[nodiscard]] std::optional<std::string> read_text(const eventlog::core::unique_fd& file,
                                                   std::size_t size_max);

/// The text in front of the next `end`, or of the end of all. Takes both off.
[[nodiscard]] std::string_view take_until(std::string_view& text, char end) noexcept;

/// What stands in the line of that label in the file `status`; empty if there is none.
[[nodiscard]] std::string_view status_value(std::string_view status, std::string_view label);

/// The numbers in that line.
[[nodiscard]] std::vector<unsigned> status_numbers(std::string_view status, std::string_view label);

/// Names in which spaces, tabs, newlines and backslashes stand as "\040".
[[nodiscard]] std::string unescape_octal(std::string_view text);

}  // namespace elog
