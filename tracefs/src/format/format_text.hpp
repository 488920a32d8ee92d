// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace eventlog::tracefs {

/// Whether libtraceevent can be given what stands behind an event's name and in front of how to
/// print it: lines of an ID, and of fields, of the form that kernels write. It was made for these,
/// and other texts, which a file may have, make it read what is not there.
[[nodiscard]] bool is_format_text(std::string_view text) noexcept;

}  // namespace eventlog::tracefs
