// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "platform/unique_fd.hpp"

namespace elog {

/// Reads exactly that many bytes from that place of a file; false if they are not there.
[[nodiscard]] bool read_at(const eventlog::core::unique_fd& file, void* data, std::size_t size,
                           std::uint64_t offset) noexcept;

}  // namespace elog
