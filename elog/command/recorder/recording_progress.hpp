// SPDX-License-Identifier: MIT
//
// The progress of a recording, shown on a terminal; see progress_line.
#pragma once

#include <string>

#include "memory/recording.hpp"
#include "terminal/progress_line.hpp"

namespace elog {

class recording_progress {
  public:
    recording_progress(concurrent_output output, bool overwrites)
        : line_(output), overwrites_(overwrites) {}

    /// To be called often. Draws when a redraw is due.
    template <class Recording>
    void update(const Recording& process) {
        if (line_.is_due()) {
            line_.draw(text(process.current_summary(), process.is_paused()));
        }
    }

  private:
    [[nodiscard]] std::string text(const recording_summary& current_summary, bool is_paused) const;

    progress_line line_;
    bool overwrites_;
};

}  // namespace elog
