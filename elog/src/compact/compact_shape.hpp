// SPDX-License-Identifier: MIT
//
// How the compacted encoding stores an event of a schema.
#pragma once

#include "compact/compact_records.hpp"
#include "schema/provider_schema.hpp"

namespace elog {

/// The shape that saves most bytes. Records that it does not fit, such as those of more than 255
/// bytes, become raw records.
[[nodiscard]] compact_shape compact_shape_of(const event_schema& event) noexcept;

}  // namespace elog
