// SPDX-License-Identifier: MIT
//
// A directory of its own for eventlog, so that a run neither sees nor disturbs the user's programs.
//
// Providers publish themselves while the program is loaded, before main: the directory must be in
// the environment by then. So this program runs itself once more.
#pragma once

#include <filesystem>
#include <optional>

namespace bench {

/// The directory, if this is the run that measures.
[[nodiscard]] std::optional<std::filesystem::path> private_directory();

/// Runs this program again, in a new directory that is gone afterwards. Returns its exit status.
[[nodiscard]] int run_again_in_private_directory(char** words);

}  // namespace bench
