// SPDX-License-Identifier: MIT
//
// Generates a script for bpftrace, which listens to events instead of emitting them.
#pragma once

#include <string>

#include "schema/provider_schema.hpp"

namespace elog {

/// A script that prints each event: from the USDT probes of `program`, or, if that is empty, from
/// the trace events of the kernel module.
[[nodiscard]] std::string generate_bpftrace(const provider_schema& schema,
                                            const std::string& program);

}  // namespace elog
