// SPDX-License-Identifier: MIT
//
// Sets the bits of a subscription in the gates of the published providers: when it begins, and when
// it is resumed after a pause.
//
// The subscription is published, and its state is live, before the providers are scanned: a
// provider that does not find it is found by the scan.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "schema/schema.hpp"
#include "shm/directory.hpp"

namespace elog {

/// The bits to set: those of a slot, for the events that a filter wants.
struct gate_request {
    unsigned slot = 0;
    std::uint64_t serial = 0;   // of the subscription in the slot
    std::string_view filter{};  // as in the region's header
};

/// Sets bits in the gates of all processes that the filter wants, and notifies them. If `see` is
/// not empty, it is called with each valid schema of the processes that `considered`, another
/// filter, wants; these include all that the first one wants.
void open_gates(const eventlog::core::directory& where, const gate_request& wanted,
                std::string_view considered,
                const std::function<void(const eventlog::core::schema_reader& schema)>& see = {});

}  // namespace elog
