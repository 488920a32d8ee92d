// SPDX-License-Identifier: MIT
#include "live/aggregate_output.hpp"

#include <unistd.h>

#include "live/uncounted_losses.hpp"
#include "terminal/diagnostics.hpp"
#include "terminal/terminal.hpp"
#include "text/character_locale.hpp"

namespace elog {

report_style report_style_for_output() {
    report_style style;
    style.width = style_of(STDOUT_FILENO).width;
    style.blocks = character_locale().is_utf8();
    return style;
}

void report_losses(const recording_summary& summary) {
    if (summary.full != 0) {
        print_diagnostic("elog: {} events found no room in the buffers and are missing in the "
                         "numbers. Select fewer with -e, or use larger buffers with --buffer-size.",
                         summary.full);
    }
    if (summary.lost != summary.full) {
        print_diagnostic(
            "elog: {} more events were lost by their programs and are missing in the numbers.",
            summary.lost - summary.full);
    }
    report_uncounted_losses(summary);
}

}  // namespace elog
