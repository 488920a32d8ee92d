// SPDX-License-Identifier: MIT
#include "live/uncounted_losses.hpp"

#include "terminal/diagnostics.hpp"

namespace elog {

void report_uncounted_losses(const recording_summary& summary) {
    if (summary.has_unread_losses) {
        print_diagnostic("elog: Many programs that have ended were not attached, and the losses of "
                         "some may not be counted. Record fewer with -e, -p or --comm.");
    }
    if (summary.has_impossible_counts) {
        print_diagnostic("elog: A program has overwritten counts of lost events, which are left "
                         "out. Events may be missing that are not counted.");
    }
    if (summary.providers_refused != 0) {
        print_diagnostic("elog: {} providers found no room in the subscription and were not "
                         "recorded. Select fewer with -e.",
                         summary.providers_refused);
    }
}

}  // namespace elog
