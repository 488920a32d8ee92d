// SPDX-License-Identifier: MIT
//
// `elog record -- COMMAND`: limits a recording to the command and its descendants.
#pragma once

#include <sys/types.h>

#include <optional>

#include "file/recording_notes.hpp"
#include "record/record_sink.hpp"
#include "record/recording_summary.hpp"
#include "scope/command_scope.hpp"
#include "scope/scope_sink.hpp"
#include "text/json_object.hpp"

namespace elog {

/// Which processes are recorded, for --explain.
inline constexpr const char* explanation_of_command_scope =
    "elog asks        whether the process is the command or a descendant of it\n";

class command_processes {
  public:
    /// Before the command starts. Without `is_limited` all records pass. `next` must outlive it.
    /// Throws user_error.
    command_processes(bool is_limited, record_sink& next);

    /// The sink to record into.
    [[nodiscard]] record_sink& sink() noexcept { return limited_ ? *limited_ : all_; }
    /// The command has started.
    void begin(pid_t command);
    /// To be called at least every 10 ms while the command runs.
    void poll();

    /// Removes the records of other processes from a summary of all records.
    void complete(recording_summary& summary) const;
    /// Writes to standard error how many records did not pass, or passed undecided.
    void print_counts() const;
    /// The same numbers; nothing if all records pass.
    [[nodiscard]] std::optional<json_object> as_json() const;
    /// For the file; nothing without the limit.
    [[nodiscard]] std::optional<command_scope_counts> counts() const;

  private:
    record_sink& all_;
    std::optional<command_scope> scope_;
    std::optional<scope_sink> limited_;
};

}  // namespace elog
