// SPDX-License-Identifier: MIT
//
// Work that is done elsewhere, where somebody may let it wait for ever.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace elog {

/// What has become of it.
struct place_answer {
    enum class outcome { done, failed, too_long, too_much };

    outcome how = outcome::failed;
    std::string output;      // what it has written to standard output
    std::string complaints;  // and to standard error
};

/// Goes where the words lead, as those in front of a command do (see other_place.hpp), in a child,
/// and has `work` done there, with pipes in place of standard output and error. Who has not come
/// back after ten seconds is killed. Call it before there are threads. Throws failure if there can
/// be no child.
[[nodiscard]] place_answer run_elsewhere(std::vector<std::string> words,
                                         const std::function<void()>& work);

}  // namespace elog
