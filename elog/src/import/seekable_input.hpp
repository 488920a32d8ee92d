// SPDX-License-Identifier: MIT
//
// An input file named by the user that may be a pipe: all readers need a file in which they can
// read anywhere.
//
// "-" is standard input. A pipe is copied to an unnamed file, which exists as long as this object;
// a regular file is read where it is.
#pragma once

#include <optional>
#include <string>

#include "base/unnamed_file.hpp"

namespace elog {

class seekable_input {
  public:
    /// Reads a pipe to its end; each part is passed to the read_observer. Throws user_error if that
    /// fails, or if the pipe delivers no recording. A path that cannot be opened is kept: its
    /// reader reports the error.
    explicit seekable_input(std::string name);

    /// The name for messages.
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    /// The path for readers, valid as long as this object.
    [[nodiscard]] const std::string& path() const noexcept { return copy_ ? copy_->path() : path_; }
    [[nodiscard]] bool is_copy() const noexcept { return copy_.has_value(); }

  private:
    void use_standard_input();
    void copy(int descriptor);
    void check_content() const;
    void check_readable() const;

    std::string name_;
    std::string path_;
    std::optional<unnamed_file> copy_;
};

/// Whether the name is that of standard input or of a pipe, which can be read once.
[[nodiscard]] bool is_pipe(const std::string& name);

}  // namespace elog
