// SPDX-License-Identifier: MIT
//
// Signals that pause and resume a live recording.
#pragma once

#include "live/live_recording.hpp"

namespace elog {

/// Pauses or resumes if a signal has requested it, and reports both, or why it is not possible.
void apply_pause_request(live_recording& process);

}  // namespace elog
