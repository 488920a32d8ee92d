// SPDX-License-Identifier: MIT
//
// A private directory for eventlog, so that a run is independent of the user's programs.
//
// Providers are published when the program is loaded, before main, so the environment must name the
// directory by then. Therefore the program runs itself again.
#pragma once

#include <filesystem>
#include <optional>

namespace bench {

/// The directory, if this is the measuring run.
[[nodiscard]] std::optional<std::filesystem::path> private_directory();

/// Runs this program again, in a new directory that is removed afterwards. Returns its exit status.
[[nodiscard]] int run_again_in_private_directory(char** words);

}  // namespace bench
