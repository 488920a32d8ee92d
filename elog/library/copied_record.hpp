// SPDX-License-Identifier: MIT
//
// The form in which record::copy_to leaves a record in the caller's buffer.
#pragma once

#include <linux/eventlog.h>

#include <cstdint>

namespace elog::library {

/// Precedes the payload.
struct copied_record {
    std::uint64_t lost_before = 0;
    std::uint64_t origin = 0;  // number of its source
    std::uint32_t ring = 0;
    std::uint32_t reserved = 0;
    eventlog_record header{};
};

}  // namespace elog::library
