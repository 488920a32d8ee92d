// SPDX-License-Identifier: MIT
//
// The pages of a gate of this process, which are replaced while threads read them: a reader sees
// the old word or the new one.
#pragma once

#include <cstdint>

#include "platform/unique_fd.hpp"

namespace eventlog::core {

/// Maps a gate of the process file, with its counters. On failure errno says why, and the pages
/// stay.
[[nodiscard]] bool map_gate(std::uint32_t* gate, const unique_fd& file,
                            std::uint64_t offset) noexcept;

/// Maps private zero pages over the gate: it has no listeners from then on, whatever other
/// processes set. False if the kernel refuses.
[[nodiscard]] bool close_gate(std::uint32_t* gate) noexcept;

}  // namespace eventlog::core
