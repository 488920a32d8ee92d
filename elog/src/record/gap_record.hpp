// SPDX-License-Identifier: MIT
//
// The record with which the kernel module reports missing records between others.
#pragma once

#include <linux/eventlog.h>

#include <cstdint>

namespace elog {

struct gap_record {
    eventlog_record record{};
    eventlog_lost_payload missing{};

    gap_record(std::uint32_t cpu, const eventlog_lost_payload& what) : missing(what) {
        record.size = sizeof(gap_record);
        record.provider = EVENTLOG_LOST_PROVIDER;
        record.cpu = static_cast<std::uint16_t>(cpu);
    }
};

}  // namespace elog
