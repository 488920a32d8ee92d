// SPDX-License-Identifier: MIT
#include "recorder/pause_signals.hpp"

#include <unistd.h>

#include "cli/stop_signal.hpp"
#include "terminal/diagnostics.hpp"

namespace elog {

void apply_pause_request(live_recording& process) {
    const bool was_paused = process.is_paused();
    try {
        switch (take_pause_request()) {
            case pause_request::none:
                return;
            case pause_request::pause:
                process.pause();
                break;
            case pause_request::resume:
                process.resume();
                break;
        }
    } catch (const pause_error& error) {
        print_diagnostic("elog: {}", error.what());
    }
    if (process.is_paused() && !was_paused) {
        print_note("elog: Paused. To resume: kill -USR2 {}", ::getpid());
    } else if (was_paused && !process.is_paused()) {
        print_note("elog: Resumed.");
    }
}

}  // namespace elog
