// SPDX-License-Identifier: MIT
//
// perf.data as an .elog file.
#pragma once

#include <string>

#include "files/recorded_file.hpp"
#include "import/importer.hpp"
#include "tracing/kernel_trace_registry.hpp"

namespace elog {

/// Makes the file `to`. What could not be read is told in the result. Throws failure if nothing can
/// be, or `to` cannot be written.
[[nodiscard]] import_result import_perf(const eventlog::tracefs::recorded_file& from,
                                        const std::string& to,
                                        kernel_trace_registry::read_published published);

}  // namespace elog
