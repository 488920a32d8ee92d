// SPDX-License-Identifier: MIT
//
// Work in a child process, for places whose programs or file systems may not answer.
#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace elog {

/// The result of a child.
struct child_result {
    enum class outcome { done, failed, timed_out, output_too_large };

    outcome how = outcome::failed;
    std::string output;      // its standard output
    std::string complaints;  // its standard error
    int signal = 0;          // the signal that ended it; 0: none
};

/// Calls `enter` and then `work` in a child whose standard output and error are pipes. After
/// `timeout` the child is killed; a child that does not end even then, because a file system does
/// not answer, is left behind. To be called before there are threads. Throws user_error if there
/// can be no child.
[[nodiscard]] child_result run_in_child(const std::function<void()>& enter,
                                        const std::function<void()>& work,
                                        std::chrono::nanoseconds timeout);

}  // namespace elog
