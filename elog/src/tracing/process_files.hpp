// SPDX-License-Identifier: MIT
//
// Reads files of /proc/PID.
#pragma once

#include <fcntl.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include <fmt/core.h>

#include "base/proc_file.hpp"
#include "platform/unique_fd.hpp"

namespace elog {

/// Empty if the process does not exist or the file cannot be read.
[[nodiscard]] inline std::string read_process_file(std::uint32_t process, const char* name,
                                                   std::size_t size_max = process_status_max) {
    const std::string path = fmt::format("/proc/{}/{}", process, name);
    const eventlog::core::unique_fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    return read_text(file, size_max).value_or("");
}

/// The name of a running process; empty if it does not exist.
[[nodiscard]] inline std::string living_process_name(std::uint32_t process) {
    const std::string text = read_process_file(process, "comm");
    return text.substr(0, text.find('\n'));
}

}  // namespace elog
