// SPDX-License-Identifier: MIT
//
// The records of a run as a list, and a run from such a list.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "record/ring_records.hpp"

namespace eventlog::test {

/// The records of checked bytes, which the views refer to.
[[nodiscard]] inline std::vector<elog::record_view> decode_records(
    std::span<const std::uint8_t> checked) {
    std::vector<elog::record_view> all;
    elog::run_reader records(checked);
    for (elog::record_view record; records.next(record);) {
        all.push_back(record);
    }
    return all;
}

/// The bytes of a run of these records.
[[nodiscard]] inline std::vector<std::uint8_t> encode_records(
    const std::vector<elog::record_view>& records) {
    std::vector<std::uint8_t> run;
    for (const elog::record_view& record : records) {
        elog::append_record(run, record);
    }
    return run;
}

}  // namespace eventlog::test
