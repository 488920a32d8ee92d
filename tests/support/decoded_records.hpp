// SPDX-License-Identifier: MIT
//
// The records of a run as a list, and a run from such a list.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "record/ring_records.hpp"

namespace eventlog::test {

/// The remaining records of a run, which the views refer to.
[[nodiscard]] inline std::vector<elog::record_view> decode_records(elog::run_reader records) {
    std::vector<elog::record_view> all;
    for (elog::record_view record; records.next(record);) {
        all.push_back(record);
    }
    return all;
}
[[nodiscard]] inline std::vector<elog::record_view> decode_records(const elog::record_run& run) {
    return decode_records(elog::run_reader(run));
}
/// The same of checked bytes of records that name their providers.
[[nodiscard]] inline std::vector<elog::record_view> decode_records(
    std::span<const std::uint8_t> checked) {
    return decode_records(elog::run_reader(checked));
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
