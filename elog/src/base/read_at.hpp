// SPDX-License-Identifier: MIT
//
// pread(2) that is not interrupted.
#pragma once

#include <cstddef>
#include <cstdint>

#include "platform/unique_fd.hpp"

namespace elog {

/// Reads exactly `size` bytes at `offset`. Returns false if the file ends before or has an error.
[[nodiscard]] bool read_at(const eventlog::core::unique_fd& file, void* data, std::size_t size,
                           std::uint64_t offset) noexcept;

}  // namespace elog
