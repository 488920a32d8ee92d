// SPDX-License-Identifier: MIT
//
// Options that all commands with a subscription share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "memory/subscription.hpp"
#include "output/text_writer.hpp"
#include "schema/patterns.hpp"

namespace elog {

struct listening_arguments {
    std::vector<std::string> events;
    std::vector<std::uint64_t> sessions;
    std::vector<std::uint64_t> pids;
    std::vector<std::string> process_names;
    std::optional<std::string> buffer_size;
    bool overwrite = false;
    bool wait = false;
    bool exclude_self = false;
};

/// Adds --session, -p, --comm and --buffer-size. The arguments have to live until the command line
/// has been read.
void add_source_options(subcommand& command, listening_arguments& arguments);

/// Adds -e, which is returned, --session, -p, --comm and --buffer-size. The arguments have to live
/// until the command line has been read.
command_option add_event_options(subcommand& command, listening_arguments& arguments);

/// Adds the same options, and --wait.
command_option add_live_options(subcommand& command, listening_arguments& arguments);

/// Adds the same options, and --overwrite.
void add_listening_options(subcommand& command, listening_arguments& arguments);

inline constexpr const char* sampling_is_allowed = nullptr;

/// Throws usage_error for an invalid pattern, process or buffer size. A command that cannot omit
/// events gives the reason, a sentence with the remedy: then also for a pattern with a sampling
/// rate.
[[nodiscard]] subscription_options make_subscription_options(
    const listening_arguments& arguments,
    const char* no_sampling = "This command needs every event: leave out 1/N.");

/// Throws user_error, with `advice`, for a pattern without a match, which is most likely mistyped.
/// `matched` are the matches at the beginning, `providers` those that registered later.
void check_patterns(const event_patterns& patterns, const std::vector<bool>& matched,
                    const provider_map& providers, const char* advice);

}  // namespace elog
