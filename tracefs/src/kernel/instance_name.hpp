// SPDX-License-Identifier: MIT
//
// The name of an instance says whose it is, so that others can find out that its owner is no more.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "platform/process.hpp"

namespace eventlog::tracefs {

/// "eventlog-PID-START-NAMESPACE": a process, told apart from a later one with its number.
[[nodiscard]] std::string instance_name(const core::process_identity& owner);

/// Whose it is; nothing: none of ours.
[[nodiscard]] std::optional<core::process_identity> instance_owner(std::string_view name);

}  // namespace eventlog::tracefs
