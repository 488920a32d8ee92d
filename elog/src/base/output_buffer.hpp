// SPDX-License-Identifier: MIT
//
// Writing what has been collected in a buffer: apart from output.hpp, as fmt's buffer takes the
// compiler long to read.
#pragma once

#include <cstddef>

#include <fmt/format.h>

#include "base/output.hpp"

namespace elog {

/// As much as writers of events collect before they write it out.
inline constexpr std::size_t output_size = std::size_t{64} << 10U;

/// Like write_all, and empties the buffer. If it throws, what has not been written is still there.
void write_out(int descriptor, fmt::memory_buffer& buffer, const abort_check& should_abort = {});

}  // namespace elog
