// SPDX-License-Identifier: MIT
//
// Names of instances identify their owners, so that instances of dead owners can be found and
// removed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "platform/process.hpp"

namespace eventlog::tracefs {

/// "eventlog-PID-START-NAMESPACE". The start time distinguishes processes that reuse a number.
[[nodiscard]] std::string instance_name(const core::process_identity& owner);

/// The owner of an instance; nothing if the name is not of this form.
[[nodiscard]] std::optional<core::process_identity> instance_owner(std::string_view name);

}  // namespace eventlog::tracefs
