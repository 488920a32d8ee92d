// SPDX-License-Identifier: MIT
//
// perf.data as an .elog file.
#pragma once

#include <string>

#include "files/recorded_file.hpp"
#include "import/translation.hpp"
#include "tracing/traced_events.hpp"

namespace elog {

/// Makes the file `to`. What could not be read is told in the result. Throws failure if nothing can
/// be, or `to` cannot be written.
[[nodiscard]] translation translate_perf(const eventlog::tracefs::recorded_file& from,
                                         const std::string& to,
                                         traced_events::read_published published);

}  // namespace elog
