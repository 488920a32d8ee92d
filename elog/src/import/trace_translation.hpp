// SPDX-License-Identifier: MIT
//
// trace.dat as an .elog file.
#pragma once

#include <string>

#include "files/recorded_file.hpp"
#include "import/translation.hpp"
#include "tracing/traced_events.hpp"

namespace elog {

/// As translate_perf.
[[nodiscard]] translation translate_trace(const eventlog::tracefs::recorded_file& from,
                                          const std::string& to,
                                          traced_events::read_published published);

}  // namespace elog
