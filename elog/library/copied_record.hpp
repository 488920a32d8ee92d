// SPDX-License-Identifier: MIT
//
// A record in a buffer of the caller's: how record::copy_to leaves it there.
#pragma once

#include <linux/eventlog.h>

#include <cstdint>

namespace elog::library {

/// In front of the payload.
struct copied_record {
    std::uint64_t lost_before = 0;
    std::uint64_t origin = 0;  // its number
    std::uint32_t ring = 0;
    std::uint32_t reserved = 0;
    eventlog_record header{};
};

}  // namespace elog::library
