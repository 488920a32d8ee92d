// SPDX-License-Identifier: MIT
//
// Temporary files that a signal which ends the process has to remove.
//
// The library only keeps the list. The elog command installs the handler (cli/stop_signal.hpp): a
// library must not change signal handlers.
#pragma once

#include <cstddef>
#include <string>

namespace elog {

/// A file in the list, from the constructor to the destructor. Any thread may use one. A file for
/// which the list has no space is not in it.
class unfinished_file {
  public:
    /// `descriptor` has the file open that `path` names.
    unfinished_file(const std::string& path, int descriptor) noexcept;
    ~unfinished_file();
    unfinished_file(const unfinished_file&) = delete;
    unfinished_file& operator=(const unfinished_file&) = delete;

  private:
    std::size_t entry_;
};

/// Removes the files in the list whose paths still name them. Async-signal-safe.
void remove_unfinished_files() noexcept;

}  // namespace elog
