// SPDX-License-Identifier: MIT
//
// Reads and stores records in the layout of the kernel module, struct eventlog_record. No other
// code of elog knows that layout.
#pragma once

#include <linux/eventlog.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "record/records.hpp"

namespace elog {

/// The bytes that a record with such a payload takes, padding included.
[[nodiscard]] constexpr std::size_t kernel_record_size(std::size_t payload_size) noexcept {
    return (sizeof(eventlog_record) + payload_size + EVENTLOG_RECORD_ALIGNMENT - 1) /
           EVENTLOG_RECORD_ALIGNMENT * EVENTLOG_RECORD_ALIGNMENT;
}

/// What untrusted bytes begin with.
struct kernel_record {
    record_view record{};   // the payload only if is_whole
    std::size_t size = 0;   // with padding; 0: the bytes end within the header
    bool is_whole = false;  // the bytes contain all of it
    bool damaged = false;   // not the beginning of a record
};

[[nodiscard]] kernel_record peek_kernel_record(std::span<const std::uint8_t> bytes) noexcept;

/// Stores a record into kernel_record_size() bytes.
void store_kernel_record(const record_view& record, std::uint8_t* to) noexcept;

}  // namespace elog
