// SPDX-License-Identifier: MIT
//
// What every command that begins a subscription asks for in the same way.
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
};

/// -e, which is returned, --session, -p, --comm, --buffer-size and --wait. The arguments must live
/// until the command line has been read.
command_option add_live_options(subcommand& command, listening_arguments& arguments);

/// The same, of which -e is required, and --overwrite.
void add_listening_options(subcommand& command, listening_arguments& arguments);

/// Throws usage_error for what cannot be listened to.
[[nodiscard]] subscription_options make_subscription_options(const listening_arguments& arguments);

/// Throws failure if a pattern has met nothing: it is most likely mistyped. `met` is what it met at
/// the beginning, `providers` who came later.
void check_patterns(const event_patterns& patterns, const std::vector<bool>& met,
                    const provider_map& providers, const char* advice);

}  // namespace elog
