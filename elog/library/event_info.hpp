// SPDX-License-Identifier: MIT
//
// What libelog's handles point to: the schemas that came with a source's records.
#pragma once

#include <cstdint>
#include <vector>

#include "record/clock_converter.hpp"
#include "schema/provider_schema.hpp"

namespace elog::library {

/// What all records of a file or a subscription have in common.
struct origin {
    const clock_converter* clock = nullptr;
    const provider_map* providers = nullptr;
    std::uint32_t shared_ring = 0;
    std::uint64_t number = 0;  // drawn: no other source has it, not even in another process
};

struct field_info {
    const field_schema* schema = nullptr;
    const provider_schema* provider = nullptr;
};

/// Never moves as long as its source lives.
struct event_info {
    const origin* from = nullptr;
    const provider_instance* provider = nullptr;
    const event_schema* schema = nullptr;
    std::uint16_t id = 0;
    bool is_excluded = false;
    std::vector<field_info> fields{};  // those that the source was asked for
};

}  // namespace elog::library
