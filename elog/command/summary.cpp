// SPDX-License-Identifier: MIT
#include "summary.hpp"

#include <algorithm>

#include "directory.hpp"
#include "tell.hpp"

namespace elog {

void print_summary(const recording_summary& summary, const std::optional<std::string>& output) {
    const double seconds = summary.elapsed.count();
    tell("{} events, {} bytes, {} lost, {:.3f} s, {:.0f} events/s{}{}", summary.events,
         summary.bytes, summary.lost, seconds, static_cast<double>(summary.events) / seconds,
         output ? ", in " : "", output.value_or(""));
    // A process that is just losing one counts it behind the ring.
    const std::uint64_t no_memory = std::min(summary.no_memory, summary.full);
    if (summary.full != no_memory) {
        tell("elog: {} events found no room in the buffers. Make them larger with --buffer-size.",
             summary.full - no_memory);
    }
    if (no_memory != 0) {
        tell("elog: {} events found no memory for the shared ring. Free some in {}, or set "
             "EVENTLOG_DIR to a larger tmpfs.",
             no_memory, eventlog::core::current_directory().text.data());
    }
    if (summary.overwritten != 0) {
        tell("elog: {} older events were overwritten by newer ones in the buffers. To keep more, "
             "make "
             "them larger with --buffer-size.",
             summary.overwritten);
    }
    if (summary.too_large != 0) {
        tell("elog: {} events were over {} bytes. Let the program say less at once.",
             summary.too_large, EVENTLOG_RECORD_SIZE_MAX);
    }
    if (summary.cut != 0) {
        tell("elog: {} events were too large and have been cut to fit", summary.cut);
    }
    if (summary.busy != 0) {
        tell("elog: {} events found the shared ring held by others. Use a machine with restartable "
             "sequences, or fewer threads.",
             summary.busy);
    }
    if (summary.damaged != 0) {
        tell("elog: {} events made no sense: a program has written over the buffers.",
             summary.damaged);
    }
    if (summary.providers_refused != 0) {
        tell("elog: {} providers found no room in the subscription and were not heard. Record "
             "fewer with -e.",
             summary.providers_refused);
    }
}

}  // namespace elog
