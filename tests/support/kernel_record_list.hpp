// SPDX-License-Identifier: MIT
//
// Records in the layout of the kernel module as a list, and such a record appended to others.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "record/kernel_records.hpp"

namespace eventlog::test {

/// The records of bytes that consist of whole ones. The views refer to the bytes.
[[nodiscard]] inline std::vector<elog::record_view> decode_kernel_records(
    std::span<const std::uint8_t> bytes) {
    std::vector<elog::record_view> all;
    while (!bytes.empty()) {
        const elog::kernel_record found = elog::peek_kernel_record(bytes);
        if (!found.is_whole) {
            ADD_FAILURE() << "not a whole record";
            break;
        }
        all.push_back(found.record);
        bytes = bytes.subspan(found.size);
    }
    return all;
}

inline void append_kernel_record(std::vector<std::uint8_t>& bytes,
                                 const elog::record_view& record) {
    const std::size_t begin = bytes.size();
    bytes.resize(begin + elog::kernel_record_size(record.payload.size()));
    elog::store_kernel_record(record, bytes.data() + begin);
}

}  // namespace eventlog::test
