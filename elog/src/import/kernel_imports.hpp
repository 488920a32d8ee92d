// SPDX-License-Identifier: MIT
//
// Imports of perf.data and of trace.dat of trace-cmd into an .elog file.
#pragma once

#include <string>

#include "files/recorded_file.hpp"
#include "import/importer.hpp"
#include "tracing/kernel_trace_registry.hpp"

namespace elog {

/// Creates the file `to`. The result lists what could not be read. Throws user_error if nothing can
/// be read or `to` cannot be written.
[[nodiscard]] import_result import_perf(const eventlog::tracefs::recorded_file& from,
                                        const std::string& to,
                                        kernel_trace_registry::read_published published);

[[nodiscard]] import_result import_trace_dat(const eventlog::tracefs::recorded_file& from,
                                             const std::string& to,
                                             kernel_trace_registry::read_published published);

}  // namespace elog
