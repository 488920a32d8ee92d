// SPDX-License-Identifier: MIT
//
// The final report about damage in a recording.
#pragma once

#include <string>

#include "file/file_reader.hpp"
#include "import/input_recording.hpp"

namespace elog {

/// Reports the damages of a file after its readable part has been processed, and throws user_error
/// if there are any. `done` is a participle for that processing. A file without an end is only
/// mentioned, because it may still be written.
void fail_if_damaged(const file_reader& file, const std::string& path, const char* done = "shown");

/// The same for a recording of perf or trace-cmd, about the parts that could not be imported.
void fail_if_damaged(const input_recording& recording, const char* done);

}  // namespace elog
