// SPDX-License-Identifier: MIT
//
// A check in front of libtraceevent's parser of formats.
#pragma once

#include <string_view>

namespace eventlog::tracefs {

/// Whether libtraceevent can safely parse the part of a format between the event's name and the
/// print format: lines of an ID and of fields in the form that kernels write. With other texts,
/// which a file may contain, libtraceevent reads behind their end.
[[nodiscard]] bool is_format_text(std::string_view text) noexcept;

}  // namespace eventlog::tracefs
