// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace eventlog::test {

/// A directory of this test process alone, in shared memory, removed when the process ends.
/// EVENTLOG_DIR names a folder in it from before the first provider is registered.
[[nodiscard]] std::string scratch_directory();

/// What the process publishes in: EVENTLOG_DIR.
[[nodiscard]] std::string eventlog_directory();

}  // namespace eventlog::test
