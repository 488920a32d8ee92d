// SPDX-License-Identifier: MIT
//
// The data behind libelog's handles: schemas and origin of a source's records.
#pragma once

#include <cstdint>
#include <vector>

#include "record/clock_converter.hpp"
#include "schema/provider_schema.hpp"

namespace elog::library {

/// Data that all records of a file or a subscription share.
struct origin {
    const clock_converter* clock = nullptr;
    const provider_map* providers = nullptr;
    std::uint32_t shared_ring = 0;
    std::uint64_t number =
        0;  // random: differs from that of any other source, also in other processes
};

struct field_info {
    const field_schema* schema = nullptr;
    const provider_schema* provider = nullptr;
};

/// Keeps its address as long as its source lives.
struct event_info {
    const origin* from = nullptr;
    const provider_instance* provider = nullptr;
    const event_schema* schema = nullptr;
    std::uint16_t id = 0;
    bool is_excluded = false;
    std::vector<field_info> fields{};  // the selected ones
};

}  // namespace elog::library
