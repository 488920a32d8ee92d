// SPDX-License-Identifier: MIT
//
// Work that is done elsewhere, where somebody may let it wait for ever.
#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace elog {

/// What has become of it.
struct child_result {
    enum class outcome { done, failed, timed_out, output_too_large };

    outcome how = outcome::failed;
    std::string output;      // what it has written to standard output
    std::string complaints;  // and to standard error
    int signal = 0;          // that has ended it; 0: none
};

/// Has a child call `go` and then `work`, with pipes in place of standard output and error. Who has
/// not come back in time is killed; who cannot even be killed, because a file system of somebody's
/// does not answer, is left behind. Call it before there are threads. Throws failure if there can
/// be no child.
[[nodiscard]] child_result run_in_child(const std::function<void()>& enter,
                                        const std::function<void()>& work,
                                        std::chrono::nanoseconds timeout);

}  // namespace elog
