// SPDX-License-Identifier: MIT
//
// Reading the contents of a flight recorder, for elog flight snapshot and elog flight stop.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/user_error.hpp"
#include "cli/command_line.hpp"
#include "cli/output_file.hpp"
#include "memory/detached_subscription.hpp"
#include "memory/recording.hpp"
#include "predicate/filtering_sink.hpp"
#include "predicate/record_filter.hpp"
#include "record/record_sampler.hpp"
#include "record/sampling_report.hpp"

namespace elog {

struct snapshot_arguments {
    std::string name;
    output_arguments output;
    int compression = 0;
    std::optional<std::string> where;
    bool json = false;

    [[nodiscard]] bool has_file() const noexcept { return !output.path.empty(); }
};

/// What the help states of the options that differ between commands.
struct snapshot_help {
    const char* output;
    const char* json;
};

/// Adds NAME, -o, which is returned, --force, --compress, --where and --json. The arguments have to
/// live until the command line has been read.
command_option add_snapshot_options(subcommand& command, snapshot_arguments& arguments,
                                    const snapshot_help& help);

/// Throws usage_error. An existing file is found when a snapshot_writer is made.
void check_snapshot_options(const snapshot_arguments& arguments);

/// Throws user_error if programs have attached, but none of their events has a name of the filter.
/// The filter may be nullptr, and is used up.
void check_names_received(std::unique_ptr<record_filter> filter,
                          const detached_subscription& source);

/// Reports the number of requests that a snapshot answers, and the reason of the last one, which is
/// nothing if unknown. `path`: the file of the snapshot.
void print_requests(const std::string& path, std::uint32_t count,
                    const std::optional<std::string>& reason);

/// How to treat names of a predicate that no event has.
enum class unknown_names {
    refused,
    possible,  // a program with these events may start later
};

/// The flight recorder was ended during the snapshot, which is therefore invalid.
class subscription_ended : public user_error {
  public:
    explicit subscription_ended(const std::string& name)
        : user_error("'{}' was ended during the snapshot, which is therefore incomplete.", name) {}
};

/// Facts about a snapshot that are not in its summary.
struct snapshot_notes {
    std::uint32_t requests = 0;           // requests of programs that it answers
    std::optional<std::string> reason{};  // reason of the last of these, if known
    std::optional<std::uint64_t> met{};   // events for which --when is true, with that option
};

/// Writes a snapshot to a file, which gets its name when it is complete, or to standard output, as
/// text or, with -o -, as a file. The summary goes to standard error, or, with --json and a file,
/// to standard output.
class snapshot_writer {
  public:
    /// Creates the file and checks the arguments, before anything is ended. Both arguments have to
    /// outlive this. Throws user_error.
    snapshot_writer(const snapshot_arguments& arguments, const detached_subscription& source,
                    unknown_names unknown = unknown_names::refused);

    /// Takes the snapshot, once. Returns whether the summary could be written; if not, that has
    /// been reported, and the snapshot is complete. Throws user_error, subscription_ended or
    /// output_closed.
    [[nodiscard]] bool take(const snapshot_notes& notes = {});

  private:
    [[nodiscard]] std::optional<sampling_report> omitted() const;
    [[nodiscard]] bool print_recording_summary(const recording_summary& summary,
                                               const snapshot_notes& notes) const;

    const snapshot_arguments& arguments_;
    const detached_subscription& source_;
    unknown_names unknown_;
    std::optional<output_file> file_;
    std::unique_ptr<record_filter> filter_;
    std::unique_ptr<record_sampler> sampler_;  // nullptr: all events are kept
    std::unique_ptr<record_sink> sink_;
    std::optional<filtering_sink> passing_;
    std::optional<recording> process_;
};

}  // namespace elog
