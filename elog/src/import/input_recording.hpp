// SPDX-License-Identifier: MIT
//
// A recording that somebody names: an .elog file, or one that perf or trace-cmd has made. Of that
// an .elog file is made first, which has no name and goes when nobody reads it any more. What is
// what, the first bytes say.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "import/importer.hpp"
#include "platform/unique_fd.hpp"
#include "tracing/kernel_trace_registry.hpp"

namespace elog {

/// Whose file it is.
enum class recorder { elog, perf, trace_cmd };

/// By its first bytes. What cannot be opened is left to who reads it.
[[nodiscard]] recorder detect_recorder(const std::string& path);

class input_recording {
  public:
    /// `published`: schemas that may be of events in it. Throws failure if it is of perf or
    /// trace-cmd and nothing in it can be read.
    explicit input_recording(std::string name,
                             kernel_trace_registry::read_published published = {});
    /// The same where somebody has looked already whose it is.
    input_recording(std::string name, recorder by, kernel_trace_registry::read_published published);

    /// What it was called.
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    /// Where an .elog file is to be read, as long as this lives; whether there is one, nobody has
    /// looked.
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

    /// Nothing: it was not made of another.
    [[nodiscard]] const std::optional<import_result>& import_details() const noexcept {
        return import_details_;
    }

  private:
    void import_recording(recorder by, kernel_trace_registry::read_published published);
    void open_unnamed();
    void open_and_remove();

    std::string name_;
    std::string path_;
    std::string folder_;
    eventlog::core::unique_fd unnamed_;
    std::optional<import_result> import_details_;
};

}  // namespace elog
