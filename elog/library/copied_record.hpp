// SPDX-License-Identifier: MIT
//
// The form in which record::copy_to leaves a record in the caller's buffer.
#pragma once

#include <cstdint>

namespace elog::library {

/// Precedes the payload.
struct copied_record {
    std::uint64_t lost_before = 0;
    std::uint64_t origin = 0;  // number of its source
    std::uint64_t ticks = 0;
    std::uint32_t ring = 0;
    std::uint32_t provider = 0;
    std::uint32_t thread = 0;
    std::uint32_t payload_size = 0;
    std::uint16_t event = 0;
    std::uint16_t cpu = 0;
    std::uint16_t flags = 0;
    std::uint16_t reserved = 0;
};

}  // namespace elog::library
