// SPDX-License-Identifier: MIT
//
// Writes the content of a buffer. Separate from output.hpp, because fmt/format.h compiles slowly.
#pragma once

#include <cstddef>

#include <fmt/format.h>

#include "base/output.hpp"

namespace elog {

/// The size up to which writers of events collect text before they write it.
inline constexpr std::size_t output_size = std::size_t{64} << 10U;

/// Like write_all, and empties the buffer. If it throws, the buffer holds what is not written yet.
void write_out(int descriptor, fmt::memory_buffer& buffer, const abort_check& should_abort = {});

}  // namespace elog
