// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include <eventlog/eventlog.hpp>

namespace static_order {

struct moment {
    std::string_view name;
};
using provider = eventlog::provider<"static_order", moment>;

}  // namespace static_order
