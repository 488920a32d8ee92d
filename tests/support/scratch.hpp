// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace eventlog::test {

/// A directory in shared memory that belongs to this test process and is removed when the process
/// ends. EVENTLOG_DIR names a folder in it before the first provider is registered.
[[nodiscard]] std::string scratch_directory();

/// EVENTLOG_DIR: the directory in which this process publishes.
[[nodiscard]] std::string eventlog_directory();

}  // namespace eventlog::test
