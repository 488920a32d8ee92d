// SPDX-License-Identifier: MIT
//
// An input file named by the user: an .elog file, or a recording of perf or trace-cmd, detected by
// its first bytes. It may be a pipe, see seekable_input.
//
// A recording of perf or trace-cmd is first imported into an unnamed .elog file, which exists as
// long as this object.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/unnamed_file.hpp"
#include "import/importer.hpp"
#include "import/seekable_input.hpp"
#include "tracing/kernel_trace_registry.hpp"

namespace elog {

/// The program that wrote the file.
enum class recorder { elog, perf, trace_cmd };

/// Detects it by the first bytes. A file that cannot be opened counts as one of elog; its reader
/// reports the error.
[[nodiscard]] recorder detect_recorder(const std::string& path);

class input_recording {
  public:
    /// `published`: schemas that may belong to events in it. Throws user_error if it is of perf or
    /// trace-cmd and cannot be read at all.
    explicit input_recording(std::string name, kernel_trace_registry::read_published published = {},
                             pipe_copy extent = pipe_copy::whole);
    /// The same if the recorder is known.
    input_recording(seekable_input source, recorder by,
                    kernel_trace_registry::read_published published);

    /// The name for messages.
    [[nodiscard]] const std::string& name() const noexcept { return source_.name(); }
    /// Path of the .elog file, valid as long as this object. A file of elog has not been opened
    /// yet.
    [[nodiscard]] const std::string& path() const noexcept {
        return imported_ ? imported_->path() : source_.path();
    }

    /// For a pipe of which only the beginning has been copied.
    [[nodiscard]] seekable_input& source() noexcept { return source_; }

    /// Nothing if it was not imported.
    [[nodiscard]] const std::optional<import_result>& import_details() const noexcept {
        return import_details_;
    }

  private:
    void import_recording(recorder by, kernel_trace_registry::read_published published);

    seekable_input source_;
    std::optional<unnamed_file> imported_;
    std::optional<import_result> import_details_;
};

}  // namespace elog
