// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "file/file_reader.hpp"
#include "import/input_recording.hpp"

namespace elog {

/// After everything readable has been shown, or what else was `done` with it: throws failure if
/// there was more that was not. That a file has no end yet is only mentioned: it may still be
/// written.
void fail_if_damaged(const file_reader& file, const std::string& path, const char* done = "shown");

/// The same of what perf or trace-cmd has recorded, and was not understood.
void fail_if_damaged(const input_recording& recording, const char* done);

}  // namespace elog
