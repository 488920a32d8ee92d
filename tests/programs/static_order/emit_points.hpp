// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include <eventlog/eventlog.hpp>

namespace static_order {

struct emit_point {
    std::string_view name;
};
using provider = eventlog::provider<"static_order", emit_point>;

}  // namespace static_order
