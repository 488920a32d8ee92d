// SPDX-License-Identifier: MIT
//
// Imports trace.dat of trace-cmd into an .elog file.
#pragma once

#include <string>

#include "files/recorded_file.hpp"
#include "import/importer.hpp"
#include "tracing/kernel_trace_registry.hpp"

namespace elog {

/// As import_perf.
[[nodiscard]] import_result import_trace_dat(const eventlog::tracefs::recorded_file& from,
                                             const std::string& to,
                                             kernel_trace_registry::read_published published);

}  // namespace elog
