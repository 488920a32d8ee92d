// SPDX-License-Identifier: MIT
//
// Taking what the buffers of a standing subscription hold: elog snapshot, and elog stop.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/atomic_file.hpp"
#include "base/user_error.hpp"
#include "cli/command_line.hpp"
#include "memory/detached_subscription.hpp"
#include "memory/recording.hpp"
#include "predicate/filtering_sink.hpp"
#include "predicate/record_filter.hpp"

namespace elog {

struct snapshot_arguments {
    std::string name;
    std::optional<std::string> output;
    int compression = 0;
    std::optional<std::string> where;
    bool json = false;
};

/// NAME, -o, --compress, --where and --json. The arguments must live until the command line has
/// been read.
void add_snapshot_options(subcommand& command, snapshot_arguments& arguments);

/// Throws usage_error.
void check_snapshot_options(const snapshot_arguments& arguments);

/// Throws failure if programs have been heard, but no event of theirs has a name that the filter
/// asks for. It may be missing, and is used up.
void check_names_received(std::unique_ptr<record_filter> filter,
                          const detached_subscription& source);

/// Says for which requests of programs a snapshot is taken, and why the last one was made, which is
/// nothing if that cannot be told. `whose`: the file that it goes to.
void print_requests(const std::string& whose, std::uint32_t count,
                    const std::optional<std::string>& reason);

/// Names in a predicate that no event has.
enum class unknown_names {
    refused,
    possible,  // a program that has them may come
};

/// The subscription was ended while its snapshot was taken: what was read of it means nothing.
class subscription_ended : public user_error {
  public:
    explicit subscription_ended(const std::string& name)
        : user_error("'{}' was ended meanwhile; of that there is no snapshot.", name) {}
};

/// What is said of a snapshot beside its numbers.
struct snapshot_notes {
    std::uint32_t requests = 0;           // of programs, that it answers
    std::optional<std::string> reason{};  // of the last of these, if that can be told
    std::optional<std::uint64_t> met{};   // events for which --when is true, if there is one
};

/// Taken to the file, which has its name when it is whole, or to standard output; with a summary on
/// standard error, or, with --json and a file, on standard output.
class snapshot_writer {
  public:
    /// Makes the file, and says what is wrong with the arguments while nothing has been ended yet.
    /// Both must outlive this. Throws failure.
    snapshot_writer(const snapshot_arguments& arguments, const detached_subscription& source,
                    unknown_names unknown = unknown_names::refused);

    /// Once. Throws failure, subscription_ended or output_closed.
    void take(const snapshot_notes& notes = {});

  private:
    void print_recording_summary(const recording_summary& summary,
                                 const snapshot_notes& notes) const;

    const snapshot_arguments& arguments_;
    const detached_subscription& source_;
    unknown_names unknown_;
    std::optional<atomic_file> file_;
    std::unique_ptr<record_filter> filter_;
    std::unique_ptr<record_sink> sink_;
    std::optional<filtering_sink> passing_;
    std::optional<recording> process_;
};

}  // namespace elog
