// SPDX-License-Identifier: MIT
//
// The record with which the kernel module reports missing records between others.
#pragma once

#include <linux/eventlog_device.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "record/kernel_records.hpp"

namespace elog {

inline constexpr std::size_t gap_record_size = kernel_record_size(sizeof(eventlog_lost_payload));

/// The record as in the stream of the device.
[[nodiscard]] inline std::array<std::uint8_t, gap_record_size> gap_record(
    std::uint32_t cpu, const eventlog_lost_payload& missing) noexcept {
    std::array<std::uint8_t, sizeof missing> payload{};
    std::memcpy(payload.data(), &missing, sizeof missing);
    record_view record;
    record.provider = EVENTLOG_LOST_PROVIDER;
    record.cpu = static_cast<std::uint16_t>(cpu);
    record.payload = payload;
    std::array<std::uint8_t, gap_record_size> bytes{};
    store_kernel_record(record, bytes.data());
    return bytes;
}

}  // namespace elog
