// SPDX-License-Identifier: MIT
//
// An input file named by the user that may be a pipe: all readers need a file in which they can
// read anywhere.
//
// "-" is standard input. A pipe is copied to an unnamed file, which exists as long as this object;
// a regular file is read where it is.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/unnamed_file.hpp"
#include "platform/unique_fd.hpp"

namespace elog {

/// What the constructor of seekable_input copies of a pipe.
enum class pipe_copy {
    whole,    // all
    growing,  // the beginning of an .elog file, up to its first clock; all of other files
    schemas,  // all of an .elog file or a program; of other files up to the size of a schema
};

class seekable_input {
  public:
    /// Each part of a pipe is passed to the read_observer. Throws user_error if copying fails, or
    /// if the pipe delivers no recording, unless it may deliver schemas. A path that cannot be
    /// opened is kept: its reader reports the error.
    explicit seekable_input(std::string name, pipe_copy extent = pipe_copy::whole);

    /// The name for messages.
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    /// The path for readers, valid as long as this object.
    [[nodiscard]] const std::string& path() const noexcept { return copy_ ? copy_->path() : path_; }
    [[nodiscard]] bool is_copy() const noexcept { return copy_.has_value(); }

    /// The pipe has not ended.
    [[nodiscard]] bool is_growing() const noexcept { return static_cast<bool>(pipe_); }
    /// Waits that long for the pipe, and copies what it delivers then. Throws user_error.
    void grow(std::chrono::milliseconds patience);
    /// The first bytes of a copy will not be read any more.
    void release(std::uint64_t size) noexcept;

  private:
    void use_standard_input();
    void copy_standard_input();
    void copy(eventlog::core::unique_fd pipe);
    void copy_start();
    void copy_schema();
    [[nodiscard]] pipe_copy check_content() const;
    void check_readable() const;

    std::string name_;
    std::string path_;
    pipe_copy extent_;
    std::optional<unnamed_file> copy_;
    eventlog::core::unique_fd pipe_;  // that has not ended
    std::uint64_t copied_ = 0;
};

/// Whether the name is that of standard input or of a pipe, which can be read once.
[[nodiscard]] bool is_pipe(const std::string& name);

}  // namespace elog
